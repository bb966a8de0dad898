package io.millrace.proxy.observe.log.block;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * The columns of a binary log. Stored in the file, so that a reader needs nothing else. Immutable.
 *
 * <pre>
 *   count | type  length name | type  length name | ...     count, length: numbers of variable length;
 *                                                           type: one byte, the high bit marks a grouped column
 * </pre>
 */
public final class BlockSchema {
    /** Limit of columns. */
    static final int COLUMNS_MAX = 64;

    private static final int GROUPED = 0x80;

    private final List<Column> columns;
    private final byte[] payload;
    private final int id;

    /** @param columns 1 to 64 columns with different names */
    public BlockSchema(List<Column> columns) {
        Set<String> names = new HashSet<>();
        columns.forEach(column -> names.add(column.name()));
        if (columns.isEmpty() || columns.size() > COLUMNS_MAX || names.size() < columns.size()) {
            throw new IllegalArgumentException("a schema needs 1 to 64 columns with different names: " + columns);
        }
        this.columns = List.copyOf(columns);
        payload = payload(columns);
        CRC32C crc = new CRC32C();
        crc.update(payload);
        id = (int) crc.getValue();
    }

    private static byte[] payload(List<Column> columns) {
        byte[] out = new byte[Varint.MAX_BYTES + columns.size() * (1 + Varint.MAX_BYTES + Column.NAME_MAX)];
        int at = Varint.write(out, 0, columns.size());
        for (Column column : columns) {
            byte[] name = column.name().getBytes(StandardCharsets.US_ASCII);
            out[at++] = (byte) (column.type().code() | (column.isGrouped() ? GROUPED : 0));
            at = Varint.write(out, at, name.length);
            System.arraycopy(name, 0, out, at, name.length);
            at += name.length;
        }
        byte[] exact = new byte[at];
        System.arraycopy(out, 0, exact, 0, at);
        return exact;
    }

    /** Parses the payload of a block with a schema. */
    static BlockSchema parse(byte[] bytes, int start, int length) throws BlockFailure {
        PayloadReader in = new PayloadReader();
        in.wrap(bytes, start, length);
        int count = in.integer(COLUMNS_MAX);
        List<Column> columns = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                int type = in.octet();
                ColumnType columnType = ColumnType.ofCode(type & ~GROUPED);
                if (columnType == null) {
                    throw new BlockFailure("a column has the unknown type " + type);
                }
                int nameLength = in.integer(Column.NAME_MAX);
                int at = in.skip(nameLength);
                String name = new String(bytes, at, nameLength, StandardCharsets.US_ASCII);
                columns.add(new Column(name, columnType, (type & GROUPED) != 0));
            }
            in.requireEnd();
            return new BlockSchema(columns);
        } catch (IllegalArgumentException e) {
            throw new BlockFailure("invalid schema: " + e.getMessage());
        }
    }

    /** The columns, in the order of their values in a row. */
    public List<Column> columns() {
        return columns;
    }

    /** Returns the index of a column; -1 if there is none with this name. */
    public int indexOf(String name) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** The id in the heads of blocks: the checksum of the payload. */
    public int id() {
        return id;
    }

    /** Returns a complete block with this schema. */
    public byte[] block() {
        byte[] block = new byte[BlockLayout.HEAD_BYTES + payload.length];
        System.arraycopy(payload, 0, block, BlockLayout.HEAD_BYTES, payload.length);
        BlockLayout.writeHead(block, 0, BlockLayout.KIND_SCHEMA, payload.length, id, 0, 0);
        return block;
    }
}
