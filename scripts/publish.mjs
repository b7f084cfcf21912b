// Writes the files that announce a release: install scripts, a Homebrew formula, and Scoop and
// winget manifests. Each contains the archives' addresses and checksums. The templates are in
// packaging/; packaging/release.json has the release's address.
import { readFileSync } from 'node:fs';
import { ROOT, version } from './bundle.mjs';
import { BUN } from './runtimes.mjs';

const { address, homepage } = JSON.parse(read('release.json'));

/** Whether the address is still the placeholder: `.invalid` names never resolve. */
export const isPlaceholder = new URL(address).hostname.endsWith('.invalid');

/** The templates of the files to publish next to the archives. */
const TEMPLATES = [
  'install.sh',
  'install.ps1',
  'homebrew/gpucloud.rb',
  'scoop/gpucloud.json',
  'winget/Gpucloud.Gpucloud.yaml',
  'winget/Gpucloud.Gpucloud.installer.yaml',
  'winget/Gpucloud.Gpucloud.locale.en-US.yaml',
];

/**
 * Fills in a template. Returns undefined if it needs the checksum of an archive that was not built.
 * @param sums checksums of the archives, by name.
 */
export function filled(template, sums = new Map()) {
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}`);
  const known = {
    VERSION: version,
    BUN,
    HOMEPAGE: homepage,
    ADDRESS: address.replaceAll('@VERSION@', version),
    SUMS: lines.join('\n'),
  };
  let isComplete = true;
  const text = read(template).replace(/@([A-Z]+)(?: ([a-z0-9-]+))?@/g, (_mark, name, target) => {
    if (name !== 'SUM') return known[name];
    const archive = target.startsWith('windows-') ? `${target}.zip` : `${target}.tar.xz`;
    const sum = sums.get(`gpucloud-${version}-${archive}`);
    isComplete &&= sum !== undefined;
    return sum;
  });
  return isComplete ? text : undefined;
}

/** Returns the files to publish next to the archives, by name. */
export function published(sums) {
  const hasWindows = [...sums.keys()].some((name) => name.endsWith('.zip'));
  const wanted = TEMPLATES.filter(
    (name) => hasWindows || !/^(?:winget\/|install\.ps1$)/.test(name),
  );
  const texts = wanted.map((name) => [name.replace(/^.*\//, ''), filled(name, sums)]);
  return new Map(texts.filter(([, text]) => text !== undefined));
}

function read(name) {
  return readFileSync(new URL(`packaging/${name}`, ROOT), 'utf8');
}
