package io.millrace.proxy.observe.log.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Writes blocks to a file, with their schema before the first block after each opening, and again after 1 MiB. So a
 * reader loses at most 1 MiB if a schema is damaged. If a call wrote only a part of a
 * block, the next call writes the rest, provided that the file is still the same. Confined to the writer thread.
 */
public final class SchemaWriter {
    /** Number of bytes after which the schema is written again. It adds about 0.05 % to the file. */
    static final long REPEAT_BYTES = 1 << 20;

    private final ByteBuffer schema;
    private long bytesSinceSchema;
    private boolean isSchemaDue;

    /** Creates a writer for blocks with this schema. */
    public SchemaWriter(BlockSchema schema) {
        this.schema = ByteBuffer.wrap(schema.block());
        this.schema.position(this.schema.limit());
    }

    /**
     * Requests the schema before the next block, because a file was opened.
     *
     * @param isEmpty true if the file is empty, so that a partly written schema is written again from its beginning
     */
    public void opened(boolean isEmpty) {
        isSchemaDue = true;
        if (isEmpty) {
            schema.position(schema.limit());
        }
    }

    /**
     * Writes at least one byte, of the schema or of the blocks.
     *
     * @param blocks complete blocks from index 0, in network order; the position is moved past the written bytes
     * @return the number of bytes written, including bytes of the schema
     */
    public int write(WritableByteChannel channel, ByteBuffer blocks) throws IOException {
        if (schema.hasRemaining()) {
            return channel.write(schema);
        }
        int position = blocks.position();
        int start = BlockLayout.blockStart(blocks, position);
        if ((isSchemaDue || bytesSinceSchema >= REPEAT_BYTES) && start == position) {
            isSchemaDue = false;
            bytesSinceSchema = 0;
            schema.rewind();
            return channel.write(schema);
        }
        int limit = blocks.limit();
        if (isSchemaDue) {
            // The rest of a block that was written in part must come before the schema.
            blocks.limit(Math.min(limit, start + BlockLayout.blockBytes(blocks, start)));
        }
        try {
            int written = channel.write(blocks);
            bytesSinceSchema += written;
            return written;
        } finally {
            blocks.limit(limit);
        }
    }
}
