/**
 * Which bytes of a database survive a power cut, by what the system promises: a flush that succeeds makes every sector of
 * its file durable that was written since the flush before it; until then each sector may or may not be on the disk. A
 * flush that fails drops what it should have written: those sectors look written and are not, until they are written again.
 *
 * The model sees both files after every commit, every write of ours and every flush of ours. What SQLite does inside one
 * commit is known from its rules: it flushes the log before it moves pages into the database and the database before it
 * begins the log anew, and then flushes the log's new header before the frames behind it.
 */
import fs, { fstatSync, readFileSync, readSync, statSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"

export interface Image {
  readonly database: Buffer
  readonly log: Buffer
}

export interface PowerCutDisk extends Disposable {
  /** Called after a commit. `look` gets what a power cut may leave before, during and after it. */
  readonly committed: () => void
  readonly flush: (descriptor: number) => void
  /** The next flush fails. */
  readonly failNext: () => void
}

const SECTOR = 512
const HEADER = 32

export const openPowerCutDisk = (options: {
  readonly file: string
  readonly chance: () => number
  readonly look: (image: () => Image) => void
}): PowerCutDisk => {
  const { file, chance, look } = options
  const database = openModel(chance)
  const log = openModel(chance)
  let fails = false

  const image = (): Image => ({ database: database.cut(), log: log.cut() })
  const read = (name: string): Buffer => readFileSync(name)

  const committed = (): void => {
    // SQLite makes the file and flushes it before its first commit.
    if (database.content().length === 0) {
      database.write(read(file))
      database.flush()
    }
    const newLog = read(`${file}-wal`)
    const newDatabase = read(file)
    const isNewLog = !newLog.subarray(0, HEADER).equals(log.content().subarray(0, HEADER))
    if (isNewLog) {
      log.write(Buffer.concat([newLog.subarray(0, HEADER), log.content().subarray(HEADER)]))
      look(image)
      log.flush()
    }
    log.write(newLog)
    look(image)
    if (newDatabase.equals(database.content())) return
    log.flush()
    database.write(newDatabase)
    look(image)
    database.flush()
    look(image)
  }

  /** During the repair of a torn log: SQLite has moved it into the database and truncated it. */
  const noticeCheckpoint = (newLog: Buffer): void => {
    const newDatabase = read(file)
    if (newDatabase.equals(database.content())) return
    log.flush()
    database.write(newDatabase)
    look(image)
    database.flush()
    log.write(newLog)
    look(image)
  }

  const flush: PowerCutDisk["flush"] = (descriptor) => {
    const now = Buffer.alloc(fstatSync(descriptor).size)
    readSync(descriptor, now, 0, now.length, 0)
    noticeCheckpoint(now)
    log.write(now)
    look(image)
    if (fails) {
      fails = false
      log.drop()
      throw Object.assign(new Error("i/o error"), { code: "EIO" })
    }
    log.flush()
    look(image)
  }

  const { writeSync } = fs
  const inode = (): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.ino ?? 0
  const watched = (
    descriptor: number,
    buffer: NodeJS.ArrayBufferView,
    offset: number,
    length: number,
    place: number,
  ): number => {
    const written = writeSync(descriptor, buffer, offset, length, place)
    if (fstatSync(descriptor).ino === inode()) log.touch(place, written)
    return written
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only one of its overloads is used meanwhile
  fs.writeSync = watched as typeof writeSync
  syncBuiltinESMExports()

  return {
    committed,
    flush,
    failNext: () => {
      fails = true
    },
    [Symbol.dispose]: () => {
      fs.writeSync = writeSync
      syncBuiltinESMExports()
    },
  }
}

/** One file: what readers see, what is surely on the disk, and which sectors are on their way. */
const openModel = (chance: () => number) => {
  let content: Buffer = Buffer.alloc(0)
  let durable: Buffer = Buffer.alloc(0)
  const dirty = new Set<number>()
  let isCut = false

  const withSectors = (sectors: Iterable<number>, length: number): Buffer => {
    const result = Buffer.alloc(length)
    durable.copy(result)
    for (const sector of sectors)
      content.subarray(sector * SECTOR, (sector + 1) * SECTOR).copy(result, sector * SECTOR)
    return result
  }
  const settle = (): void => {
    dirty.clear()
    isCut = false
  }
  return {
    content: () => content,
    write: (next: Buffer) => {
      const sectors = Math.ceil(next.length / SECTOR)
      for (let sector = 0; sector < sectors; sector += 1) {
        const place = sector * SECTOR
        const end = Math.min(place + SECTOR, next.length)
        if (!next.subarray(place, end).equals(content.subarray(place, end))) dirty.add(sector)
      }
      for (const sector of dirty) if (sector >= sectors) dirty.delete(sector)
      isCut ||= next.length < content.length
      content = Buffer.from(next)
    },
    /** The same bytes, written again. */
    touch: (place: number, length: number) => {
      for (let sector = Math.floor(place / SECTOR); sector * SECTOR < place + length; sector += 1)
        dirty.add(sector)
    },
    flush: () => {
      durable = withSectors(dirty, content.length)
      settle()
    },
    /** The sectors on their way never arrive. The file system finishes a truncation on its own. */
    drop: settle,
    /** What a power cut may leave now. */
    cut: (): Buffer => {
      const likely = [0, 0.5, 1][Math.floor(chance() * 3)] ?? 0
      const arrived = [...dirty].filter(() => chance() < likely)
      // The length reaches the disk no later than the last sector.
      const isLength = likely === 1 || (isCut && chance() < 0.5)
      const length = isLength
        ? content.length
        : Math.max(
            durable.length,
            ...arrived.map((sector) => Math.min((sector + 1) * SECTOR, content.length)),
          )
      return withSectors(arrived, length)
    },
  }
}
