// SPDX-License-Identifier: Apache-2.0

/** A button that copies a text, also where a page without HTTPS has no clipboard. */
import { useEffect, useState } from 'preact/hooks';
import { speak } from '../data/state.ts';
import { say } from '../words/lease/index.ts';

/** Milliseconds that the button says so. */
const SHOWN = 2500;

/** Copy a text; false if the browser does not let the page. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return selected(text);
  }
}

/** Copy by a selection, which browsers allow while a button is pressed. */
function selected(text: string): boolean {
  const { activeElement } = document;
  const field = document.createElement('textarea');
  field.className = 'hidden';
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
  return done;
}

/** `what` names the text for those who do not see it beside the button. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState<boolean | null>(null);
  useEffect(() => {
    if (done === null) return undefined;
    const timer = setTimeout(() => setDone(null), SHOWN);
    return () => clearTimeout(timer);
  }, [done]);
  const press = async (): Promise<void> => {
    const fine = await copied(text);
    speak(fine ? say('copiedWhat', { what }) : say('copyFailed'));
    setDone(fine);
  };
  return (
    <>
      <button type="button" class="copy" aria-label={say('copyWhat', { what })} onClick={() => void press()}>
        {say(done ? 'copied' : 'copy')}
      </button>
      {done === false && <small class="muted">{say('copyFailed')}</small>}
    </>
  );
}
