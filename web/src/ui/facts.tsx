// SPDX-License-Identifier: Apache-2.0

/** Terms and what they are. */
export function FactList({ facts }: { facts: [string, string][] }) {
  return (
    <dl class="facts">
      {facts.map(([term, text]) => <div key={term}><dt>{term}</dt><dd>{text}</dd></div>)}
    </dl>
  );
}
