// Where the keyboard goes, and only when the person asks: nothing here runs by itself.

/** To the first open question, else to the item of the conversation that was read last. */
export function goToQuestion(): void {
  const card = document.querySelector<HTMLElement>(".approval");
  const item = card ?? document.querySelector<HTMLElement>('[data-item][tabindex="0"]');
  item?.scrollIntoView?.({ block: "nearest" });
  item?.focus();
}

/** A part that had the focus goes away: its item keeps it, so that the keyboard is not lost. */
export function leaveTo(element: HTMLElement | null, selector: string): void {
  if (!element?.contains(document.activeElement)) return;
  element.closest<HTMLElement>(selector)?.focus({ preventScroll: true });
}

/** While letters are composed, Enter and Escape belong to the input method. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Arrow keys within a menu or list of buttons. */
export function roam(event: KeyboardEvent, buttons: readonly HTMLElement[]): void {
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  const next =
    event.key === "ArrowDown"
      ? (at + 1) % buttons.length
      : event.key === "ArrowUp"
        ? (at + buttons.length - 1) % buttons.length
        : event.key === "Home"
          ? 0
          : event.key === "End"
            ? buttons.length - 1
            : -1;
  if (next < 0 || !buttons.length) return;
  event.preventDefault();
  buttons[next]?.focus();
}
