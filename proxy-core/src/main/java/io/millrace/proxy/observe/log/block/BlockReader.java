package io.millrace.proxy.observe.log.block;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a stream of blocks, which may have several schemas. Skips damaged parts and reports them. Confined
 * to one thread.
 */
public final class BlockReader {
    /** Limit of different schemas in a stream. A change of the configured log format adds a schema. */
    private static final int SCHEMAS_MAX = 1024;

    /** Receives rows, and the messages about parts that cannot be read. */
    public interface Visitor {
        /** Receives the schema of the rows that follow. Called before the first row, and when the schema changes. */
        void schema(BlockSchema schema);

        /**
         * Receives a row, which is valid during the call.
         *
         * @return false to end the reading
         */
        boolean row(Row row);

        /**
         * Reports a part of the stream that cannot be read.
         *
         * @param offset position in the stream
         * @param reason the text for the user
         */
        void damaged(long offset, String reason);
    }

    private final Visitor visitor;
    private final BlockScanner scanner;
    private final Map<Integer, BlockDecoder> decoders = new HashMap<>();
    /** The schema that the visitor received last. */
    private @Nullable BlockSchema announced;

    private boolean isEnded;

    public BlockReader(Visitor visitor) {
        this.visitor = visitor;
        scanner = new BlockScanner((offset, bytes) ->
                visitor.damaged(offset, bytes + (bytes == 1 ? " byte is" : " bytes are") + " not a valid block"));
    }

    /** The number of bytes at the end of the stream that are not a complete block yet. */
    public int pendingBytes() {
        return scanner.pendingBytes();
    }

    /** Reads the complete blocks that the stream has now. Returns false if the visitor has ended the reading. */
    public boolean read(InputStream in) throws IOException {
        for (Block block = scanner.next(in); block != null && !isEnded; block = scanner.next(in)) {
            read(block);
        }
        return !isEnded;
    }

    /** Reads the rest of a stream that will not grow; an incomplete block is reported as damaged. */
    public void finish() {
        for (Block block = scanner.nextOfRest(); block != null && !isEnded; block = scanner.nextOfRest()) {
            read(block);
        }
    }

    private void read(Block block) {
        long offset = scanner.offset() - BlockLayout.HEAD_BYTES - block.payloadBytes();
        try {
            BlockSchema schema = block.schema();
            if (schema != null) {
                if (decoders.size() < SCHEMAS_MAX) {
                    decoders.computeIfAbsent(schema.id(), id -> new BlockDecoder(schema));
                }
                return;
            }
            BlockDecoder decoder = decoders.get(block.schemaId());
            if (decoder == null) {
                visitor.damaged(
                        offset, block.rows() + " records cannot be read, because their schema is missing or damaged");
                return;
            }
            if (decoder.schema() != announced) {
                announced = decoder.schema();
                visitor.schema(announced);
            }
            decoder.begin(block);
            for (Row row = decoder.next(); row != null && !isEnded; row = decoder.next()) {
                isEnded = !visitor.row(row);
            }
        } catch (BlockFailure e) {
            visitor.damaged(offset, "invalid block: " + e.getMessage());
        }
    }
}
