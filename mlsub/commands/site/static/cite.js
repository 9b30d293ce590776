"use strict";
// Texts to copy. The day of retrieval is the reader's own.
(() => {
  const today = () => {
    const now = new Date();
    return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  };

  // Some browsers have no clipboard for pages of a disk: there the text is chosen and copied as by hand.
  const byHand = (source) => {
    const range = document.createRange();
    range.selectNodeContents(source);
    const chosen = getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
    return document.execCommand("copy");
  };

  const copy = async (source) => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      return true;
    } catch {
      return byHand(source);
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const source of document.querySelectorAll("[data-copy]")) {
      const tools = document.createElement("p");
      tools.className = "tools";
      const button = tools.appendChild(document.createElement("button"));
      button.textContent = "Copy";
      const title = source.parentElement.querySelector("h3").textContent;
      button.setAttribute("aria-label", `Copy: ${title}`);
      Object.assign(source, { tabIndex: 0, ariaLabel: title });
      tools.append(" ", document.createElement("output"));
      source.after(tools);
      source.textContent = source.textContent.replace("[date]", today());
      button.addEventListener("click", async () => {
        const done = await copy(source);
        button.parentElement.querySelector("output").textContent = done ? "Copied" : "Press Ctrl+C to copy";
      });
    }
  });
})();
