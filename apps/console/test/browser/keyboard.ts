import type { Locator, Page } from '@hqrelay/testing/browser/open-browser';
import { waitFor } from '@hqrelay/testing/wait-for';

const tabsMax = 100;

/** A person without a pointer: every step fails when the focus is lost, invisible, or behind something else. */
export type Keyboard = {
  /** Presses Tab until the element has the focus. */
  tabTo: (target: Locator) => Promise<void>;
  /** Presses a key, such as Enter or ArrowDown. */
  press: (key: string) => Promise<void>;
  /** Replaces the text of the field that has the focus. */
  type: (text: string) => Promise<void>;
  /** Waits until an element has the focus and shows it. */
  expectFocus: () => Promise<void>;
};

export function createKeyboard(page: Page): Keyboard {
  const { keyboard } = page;
  const expectFocus = async () => {
    const problem = () => page.evaluate<string>(focusProblem);
    await waitFor(
      'the focus',
      async () => {
        const found = await problem();
        if (found !== '') throw new Error(found);
        return true;
      },
      { timeoutMs: 20_000 },
    );
  };
  return {
    async tabTo(target) {
      await target.waitFor();
      for (let tabs = 0; tabs < tabsMax; tabs += 1) {
        await keyboard.press('Tab');
        await expectFocus();
        if (await hasFocus(target)) return;
      }
      throw new Error(`${tabsMax} presses of Tab do not lead to ${target.toString()}`);
    },
    press: (key) => keyboard.press(key),
    async type(text) {
      await keyboard.press('Control+A');
      await keyboard.type(text);
    },
    expectFocus,
  };
}

type Focusable = { ownerDocument: { activeElement: unknown } };

export function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate(
    (element: unknown) => (element as Focusable).ownerDocument.activeElement === element,
  );
}

// As text: a function of this file would need the types of the browser.
/** A sentence, or an empty text when the focus can be seen. */
const focusProblem = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return 'the focus is lost';
  const name = element.outerHTML.slice(0, 150);
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  if (outlineStyle === 'none' || outlineWidth === '0px') return 'the focus cannot be seen on ' + name;
  const box = element.getBoundingClientRect();
  const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
  const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
  if (right <= left || bottom <= top) return 'the focus is outside of the window, on ' + name;
  const shown = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return shown && (element.contains(shown) || shown.contains(element)) ? '' : 'the focus is covered, on ' + name;
})()`;
