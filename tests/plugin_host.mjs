// Plays an exchange against a plugin as its program would: node plugin_host.mjs PROGRAM PLUGIN, lines on standard input.
// Writes for each line what the agent gets, or null.
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

const [program, plugin] = process.argv.slice(2)
const loaded = await import(pathToFileURL(plugin))
let messages = []
const handlers = new Map()

if (program === "opencode") {
  const client = { session: { messages: async ({ path }) => ({ data: path.id ? messages : [] }) } }
  // every export is a plugin there
  for (const make of Object.values(loaded)) {
    for (const [name, run] of Object.entries(await make({ client, directory: "/", worktree: "/" }))) handlers.set(name, run)
  }
} else {
  loaded.default.register({ on: (name, run) => handlers.set(name, run) })
}

for await (const line of createInterface({ input: process.stdin })) {
  const row = JSON.parse(line)
  messages = row.messages ?? messages
  const run = handlers.get(row.event)
  const before = row.output?.output
  const result = await run?.(row.input, program === "opencode" ? row.output : row.context)
  let told = null
  if (program === "openclaw" && result) told = [result.prependSystemContext ?? "", result.prependContext ?? ""]
  if (row.event === "chat.message") {
    const added = row.output.parts.filter((part) => part.synthetic)
    const isPart = (part) => part.id.startsWith("prt") && part.messageID === row.output.message.id && part.type === "text"
    if (!added.every(isPart)) throw new Error("no part of a message")
    told = added.map((part) => part.text).join("")
  }
  if (row.event === "tool.execute.after") told = row.output.output.slice(before.length)
  console.log(JSON.stringify(told))
}
process.exit(0)
