package io.millrace.proxy.observe.log.block;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the rows of blocks, one block after the other. See {@link BlockEncoder} for their format. Confined to one
 * thread.
 */
public final class BlockDecoder {
    private final BlockSchema schema;
    private final Column[] columns;
    private final PayloadReader in = new PayloadReader();
    private final Row row;

    /** For each column: positions and lengths of its texts. The sign bit of a length marks a cut text. */
    private final int[][] textStarts;

    private final int[][] textLengths;
    private final int[] textCounts;

    /** For each column: its value in each group. The value of a text column is the number of the text plus one. */
    private final long[][] groupValues;

    private int groups;
    private byte[] bytes = {};
    private int rowsLeft;
    /** The time of the previous row; at first the time in the head of the block. */
    private long time;

    /** Creates a decoder for blocks with this schema. */
    public BlockDecoder(BlockSchema schema) {
        this.schema = schema;
        columns = schema.columns().toArray(new Column[0]);
        row = new Row(schema);
        textStarts = new int[columns.length][16];
        textLengths = new int[columns.length][16];
        textCounts = new int[columns.length];
        groupValues = new long[columns.length][16];
    }

    /** The schema of the rows. */
    public BlockSchema schema() {
        return schema;
    }

    /** Begins a block. Its bytes are borrowed until the last row is decoded. */
    public void begin(Block block) throws BlockFailure {
        if (block.schemaId() != schema.id()) {
            throw new IllegalArgumentException("schema: actual=" + block.schemaId() + ", expected=" + schema.id());
        }
        bytes = block.bytes();
        in.wrap(bytes, block.start() + BlockLayout.HEAD_BYTES, block.payloadBytes());
        rowsLeft = block.rows();
        time = block.firstTime();
        groups = 0;
        Arrays.fill(textCounts, 0);
        if (rowsLeft == 0) {
            in.requireEnd();
        }
    }

    /**
     * Returns the next row of the block, which is valid until the next call; null after the last one.
     *
     * @throws BlockFailure if the rest of the block is invalid
     */
    public @Nullable Row next() throws BlockFailure {
        if (rowsLeft == 0) {
            return null;
        }
        readGroup();
        for (int column = 0; column < columns.length; column++) {
            if (!columns[column].isGrouped()) {
                readValue(column);
            }
        }
        rowsLeft--;
        if (rowsLeft == 0) {
            in.requireEnd();
        }
        return row;
    }

    private void readGroup() throws BlockFailure {
        int group = in.integer(groups) - 1;
        for (int column = 0; column < columns.length; column++) {
            if (!columns[column].isGrouped()) {
                continue;
            }
            if (group < 0) {
                long value = readValue(column);
                groupValues[column] = withRoom(groupValues[column], groups);
                groupValues[column][groups] = value;
            } else if (columns[column].type().isBytes()) {
                setText(column, (int) groupValues[column][group] - 1);
            } else {
                row.number(column, groupValues[column][group]);
            }
        }
        groups += group < 0 ? 1 : 0;
    }

    private static long[] withRoom(long[] values, int index) {
        return index < values.length ? values : Arrays.copyOf(values, 2 * values.length);
    }

    /** Reads a value into the row. Returns the value; for a text, its number in the column plus one. */
    private long readValue(int column) throws BlockFailure {
        ColumnType type = columns[column].type();
        if (type.isBytes()) {
            return readText(column) + 1L;
        }
        long number = in.number();
        if (type == ColumnType.TIME) {
            time += Varint.unzigzag(number);
            number = time;
        }
        row.number(column, number);
        return number;
    }

    private int readText(int column) throws BlockFailure {
        int code = in.integer(Integer.MAX_VALUE);
        int count = textCounts[column];
        int number = code >> 1;
        if (code == 0) {
            number = -1;
        } else if ((code & 1) == 0) {
            int length = code >> 2;
            if (length == 0) {
                throw new BlockFailure("a new text has no bytes");
            }
            if (count == textStarts[column].length) {
                textStarts[column] = Arrays.copyOf(textStarts[column], 2 * count);
                textLengths[column] = Arrays.copyOf(textLengths[column], 2 * count);
            }
            textStarts[column][count] = in.skip(length);
            textLengths[column][count] = (code & 2) == 0 ? length : length | Integer.MIN_VALUE;
            textCounts[column]++;
            number = count;
        } else if (number >= count) {
            throw new BlockFailure("a row refers to text " + number + " of " + count);
        }
        setText(column, number);
        return number;
    }

    private void setText(int column, int number) {
        if (number < 0) {
            row.text(column, bytes, 0, 0, false);
        } else {
            int length = textLengths[column][number];
            row.text(column, bytes, textStarts[column][number], length & Integer.MAX_VALUE, length < 0);
        }
    }
}
