// Written by memoryctl hooks install opencode; memoryctl hooks uninstall opencode removes it.
// OpenCode has no command hooks: this runs the command that other programs run, and hands on its answer.
/* ASK */
const said = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const memoryd = async ({ client }) => {
  const started = new Set()
  const children = new Set() // sessions of sub-agents, whose messages are no turns of the person
  return {
    "chat.message": async (input, output) => {
      const session_id = input.sessionID
      if (children.has(session_id)) return
      let text = ""
      if (!started.has(session_id)) {
        started.add(session_id)
        text = await ask("start", { session_id })
      }
      text += await ask("prompt", { session_id, prompt: said(output.parts) })
      if (!text) return
      const id = `prt_memoryd${Date.now()}`
      output.parts.unshift({ id, sessionID: session_id, messageID: output.message.id, type: "text", text, synthetic: true })
    },
    "tool.execute.after": async (input, output) => {
      if (children.has(input.sessionID) || !(output.metadata?.exit > 0)) return
      const hook = { session_id: input.sessionID, tool_name: input.tool, tool_input: input.args ?? {} }
      const text = await ask("tool_failed", { ...hook, error: output.output.slice(-4000) })
      if (text) output.output += `\n\n${text}`
    },
    "experimental.session.compacting": async (input) => {
      started.delete(input.sessionID)
      if (!children.has(input.sessionID)) await ask("compact", { session_id: input.sessionID })
    },
    event: async ({ event }) => {
      const session_id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created" && event.properties.info.parentID) children.add(session_id)
      if (event.type === "session.deleted" && children.delete(session_id)) return
      if (children.has(session_id)) return
      if (event.type === "session.idle") {
        const reply = await client.session.messages({ path: { id: session_id } }).catch(() => undefined)
        const last = (reply?.data ?? []).filter((one) => one.info.role === "assistant").at(-1)
        if (last) await ask("answer", { session_id, last_assistant_message: said(last.parts) })
      } else if (event.type === "session.deleted") {
        started.delete(session_id)
        await ask("end", { session_id, reason: "deleted" })
      }
    },
  }
}
