// Written by memoryctl hooks install openclaw; memoryctl hooks uninstall openclaw removes it.
// OpenClaw has no command hooks: this runs the command that other programs run, and hands on its answer.
/* ASK */
function said(message) {
  if (typeof message?.content === "string") return message.content
  const parts = Array.isArray(message?.content) ? message.content : []
  return parts.filter((part) => part.type === "text").map((part) => part.text).join("\n")
}

export default {
  id: "memoryd",
  name: "memoryd",
  register(api) {
    const sessions = new Set()
    api.on("before_prompt_build", async (event, context) => {
      const session_id = context?.sessionKey
      const origin = context?.inputProvenance?.kind ?? "external_user"
      const prompt = event.currentUserMessage ?? event.prompt
      if (!session_id || origin !== "external_user" || (context.trigger ?? "user") !== "user") return undefined
      sessions.add(session_id)
      // the system prompt is built anew for each turn: a block that was kept would tell what is forgotten by now
      const stable = await ask("start", { session_id })
      const text = prompt ? await ask("prompt", { session_id, prompt }) : ""
      return { prependSystemContext: stable || undefined, prependContext: text || undefined }
    })
    api.on("agent_end", async (event, context) => {
      if (!context?.sessionKey || (context.trigger ?? "user") !== "user") return
      const answer = said(event.messages.filter((message) => message?.role === "assistant").at(-1))
      if (answer) await ask("answer", { session_id: context.sessionKey, last_assistant_message: answer })
    })
    api.on("before_compaction", async (_event, context) => {
      if (!sessions.has(context?.sessionKey)) return
      await ask("compact", { session_id: context.sessionKey })
    })
    api.on("session_end", async (event, context) => {
      const session_id = event.sessionKey ?? context?.sessionKey
      if (sessions.delete(session_id)) await ask("end", { session_id, reason: event.reason ?? "" })
    })
  },
}
