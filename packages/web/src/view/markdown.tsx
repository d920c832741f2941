import { useMemo } from "preact/hooks"

import { readMarkdown, type Block, type Cell, type Inline } from "../domain/markdown.ts"

/** Text of a model, formatted as intended. Nothing in it becomes markup: see `readMarkdown`. */
export const Markdown = ({ text }: { readonly text: string }) => {
  const blocks = useMemo(() => readMarkdown(text), [text])
  return (
    <div class="markdown">
      <Blocks blocks={blocks} />
    </div>
  )
}

const Blocks = ({ blocks }: { readonly blocks: readonly Block[] }) => (
  <>
    {blocks.map((block, index) => (
      <BlockView key={index} block={block} />
    ))}
  </>
)

const BlockView = ({ block }: { readonly block: Block }) => {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines inner={block.inner} />
        </p>
      )
    case "heading":
      // The page has its own headings above these.
      return (
        <p
          class={`heading level-${Math.min(block.level, 4)}`}
          role="heading"
          aria-level={Math.min(block.level + 2, 6)}
        >
          <Inlines inner={block.inner} />
        </p>
      )
    case "code":
      return (
        <figure class="code">
          {block.language === "" ? null : <figcaption>{block.language}</figcaption>}
          <pre tabIndex={0}>{block.text}</pre>
        </figure>
      )
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.inner} />
        </blockquote>
      )
    case "list": {
      const items = block.items.map(({ inner, isDone }, index) => (
        <li key={index} class={isDone === undefined ? "" : "task"}>
          {isDone === undefined ? null : (
            <span class="tick" role="img" aria-label={isDone ? "done" : "open"}>
              {isDone ? "☑" : "☐"}
            </span>
          )}
          <Blocks blocks={inner} />
        </li>
      ))
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case "table":
      return (
        <div class="table" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col" class={alignOf(cell)}>
                    <Inlines inner={cell.inner} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, place) => (
                    <td key={place} class={alignOf(cell)}>
                      <Inlines inner={cell.inner} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case "rule":
      return <hr />
  }
}

const alignOf = ({ align }: Cell): string => (align === undefined ? "" : `align-${align}`)

const Inlines = ({ inner }: { readonly inner: readonly Inline[] }) => (
  <>
    {inner.map((item, index) => (
      <InlineView key={index} item={item} />
    ))}
  </>
)

const InlineView = ({ item }: { readonly item: Inline }) => {
  switch (item.kind) {
    case "text":
      return <>{item.text}</>
    case "code":
      return <code>{item.text}</code>
    case "strong":
      return (
        <strong>
          <Inlines inner={item.inner} />
        </strong>
      )
    case "emphasis":
      return (
        <em>
          <Inlines inner={item.inner} />
        </em>
      )
    case "deleted":
      return (
        <del>
          <Inlines inner={item.inner} />
        </del>
      )
    case "link":
      return (
        <a href={item.address} title={item.address} target="_blank" rel="noreferrer noopener">
          <Inlines inner={item.inner} />
        </a>
      )
    case "break":
      return <br />
  }
}
