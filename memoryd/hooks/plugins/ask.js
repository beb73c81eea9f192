import { spawn } from "node:child_process"

const COMMAND = [/* COMMAND */]
const WAITS_MS = 5000

function ask(event, hook) {
  const at = COMMAND.indexOf("memoryd.hooks") + 1
  const words = [...COMMAND.slice(0, at), event, ...COMMAND.slice(at + 1)]
  return new Promise((resolve) => {
    const child = spawn(words[0], words.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: WAITS_MS })
    let text = ""
    child.stdout.on("data", (part) => (text += part))
    child.on("error", () => resolve(""))
    child.on("close", () => {
      try {
        resolve(JSON.parse(text).hookSpecificOutput.additionalContext)
      } catch {
        resolve("") // nothing to tell, or no answer in time
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(hook))
  })
}
