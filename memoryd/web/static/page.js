// What pages do beyond links and forms: the link's token, keys, copying, and live figures. Reading needs none of it.

const login = document.querySelector("#login");
function enter() {
  if (location.hash.length < 2) return;
  login.elements.token.value = location.hash.slice(1);
  // the token goes out of the history before it is sent
  history.replaceState(null, "", location.pathname);
  login.submit();
}

if (login && !("stay" in login.dataset)) enter();
// a new link that is pasted into the address of this page loads nothing
if (login && location.pathname === new URL(login.action).pathname) addEventListener("hashchange", enter);

const items = () => [...document.querySelectorAll(".item")].filter((item) => item.checkVisibility());

function step(by) {
  const all = items();
  const at = all.indexOf(document.activeElement?.closest(".item"));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function ask() {
  const box = document.querySelector("#q");
  if (!box) {
    location.assign("ask");
    return;
  }
  box.focus();
  box.select();
}

const keys = {
  "/": ask,
  "?": () => document.querySelector("#keys")?.showModal(),
  j: () => step(1),
  k: () => step(-1),
  Enter: () => {
    const item = document.activeElement;
    const own = item.querySelector("a[rel=bookmark]");
    own ? own.click() : item.querySelector("summary, a, button")?.focus();
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const on = document.activeElement;
  // the box that waits for a question is where this key leads
  if (event.key === "/" && on?.id === "q" && !on.value) event.preventDefault();
  if (on?.matches("input:not([type=checkbox]), textarea, select") || document.querySelector("dialog[open]")) {
    if (event.key === "Escape") on.blur();
    return;
  }
  if (event.key === "Enter" && !on?.matches(".item")) return;
  const act = keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

function showCopying(part) {
  for (const button of part.querySelectorAll("[data-copy]")) button.hidden = false;
}

showCopying(document);
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const was = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = was), 1500);
});

// an answer that takes longer comes in place of the first one, unless somebody is at work on that
const later = document.querySelector("[data-later]");
if (later) {
  const request = new XMLHttpRequest();
  request.responseType = "document";
  request.open("GET", later.href);
  request.addEventListener("load", () => {
    const answer = document.querySelector("#answer");
    const whole = request.response?.querySelector("#answer");
    if (!whole) return;
    if (answer.contains(document.activeElement) || answer.querySelector(".deeds details[open]")) {
      later.textContent = "it is here: show all of it";
      return;
    }
    answer.replaceWith(whole);
    showCopying(whole);
  });
  request.send();
}

// one checkbox that ticks all others of its form
for (const all of document.querySelectorAll("[data-all]")) {
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const one of all.form.querySelectorAll(`input[name=${all.dataset.all}]`)) one.checked = all.checked;
  });
}

// live figures: the server sends texts and numbers by the name of the element that shows them
const live = document.querySelector("[data-events]");
if (live) {
  const show = (event) => {
    for (const [name, value] of Object.entries(JSON.parse(event.data))) {
      for (const shown of document.querySelectorAll(`[data-live="${CSS.escape(name)}"]`)) {
        if (shown instanceof HTMLProgressElement) shown.value = value;
        else shown.textContent = value;
      }
    }
  };
  // a session has one stream: the page that is looked at takes it
  let source = null;
  const follow = () => {
    source?.close();
    source = document.hidden ? null : new EventSource(live.dataset.events);
    source?.addEventListener("figures", show);
    source?.addEventListener("over", (event) => event.target.close());
  };
  follow();
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => source?.close());
}
