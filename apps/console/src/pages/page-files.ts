import { hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

export type PageFile = {
  bytes: Buffer;
  /** Names the content in an ETag. */
  version: string;
  /** Its extension, with the dot. */
  extension: string;
  /** Vite puts a hash of the content into the name of every file in `assets`. */
  isImmutable: boolean;
  /** Compressed on first use; undefined where compression gains nothing. */
  compressed: (encoding: Encoding) => Promise<Buffer> | undefined;
};

/** The built pages: `dist/web`, seen from `src/pages` and from `dist/pages` alike. */
const folder = join(import.meta.dirname, '../../dist/web');
const compressible: ReadonlySet<string> = new Set(['.html', '.js', '.css', '.svg', '.json', '.txt']);

/** Every built file by its URL path; empty when the pages were not built. Memory holds them all: they are about a megabyte. */
export function loadPageFiles(): ReadonlyMap<string, PageFile> {
  if (!statSync(join(folder, 'index.html'), { throwIfNoEntry: false })) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        const path = `/${relative(folder, file).split(sep).join('/')}`;
        return [path, pageFile(path, readFileSync(file))] as const;
      }),
  );
}

function pageFile(path: string, bytes: Buffer): PageFile {
  const extension = extname(path);
  const done = new Map<Encoding, Promise<Buffer>>();
  return {
    bytes,
    version: hash('sha256', bytes).slice(0, 16),
    extension,
    isImmutable: path.startsWith('/assets/'),
    compressed(encoding) {
      if (!compressible.has(extension)) return undefined;
      const compressed = done.get(encoding) ?? compress(encoding, bytes);
      done.set(encoding, compressed);
      return compressed;
    },
  };
}

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

function compress(encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  return encoding === 'gzip'
    ? gzipped(bytes, { level: 9 })
    : brotlied(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}
