package io.millrace.proxy.observe.log.block;

import java.util.Arrays;
import java.util.List;

/**
 * Encodes rows to blocks, directly in the buffer of the caller. A text is written once in a block; later rows refer to
 * it. Some columns are grouped ({@link Column#isGrouped}): each combination of their values is written once in a block,
 * and each row refers to one combination.
 *
 * <pre>
 *   row:      reference of the group | values of the other columns, in their order
 *   group:    0, then the values of the grouped columns: a new group, which gets the next number
 *             n: the values of group n - 1
 *   number:   the number                 time: the difference to the row before, as zigzag
 *   text:     0: absent                  n * 2 + 1: the text with number n of this column
 *             length * 4 + cut * 2, bytes: a new text, which gets the next number of this column
 * </pre>
 *
 * <p>All numbers have variable length. Confined to one thread.
 */
public final class BlockEncoder {
    /** Limit of different texts in a block. A block that reaches the limit is complete. */
    private static final int TEXTS_MAX = 1 << 13;

    /** Limit of groups in a block. A block that reaches the limit is complete. */
    private static final int GROUPS_MAX = 1 << 11;

    private static final int HASH_FACTOR = 0x9e3779b1;
    private static final long LONG_HASH_FACTOR = 0x9e3779b97f4a7c15L;

    private final BlockSchema schema;
    private final Column[] columns;
    /** Indexes of the grouped columns. */
    private final int[] grouped;
    /** Indexes of the other columns. */
    private final int[] ungrouped;

    private final int textColumns;

    /** Hash table of the texts, with open addressing. A slot contains the index of a text plus one; 0 if it is free. */
    private final int[] textTable = new int[2 * TEXTS_MAX];

    /** Hash table of the groups, in the format of {@link #textTable}. */
    private final int[] groupTable = new int[2 * GROUPS_MAX];

    /**
     * For each text: its column times two, plus one if the text is cut. The next three arrays contain for each text its
     * position, its length and its number in the column.
     */
    private final int[] textOwners = new int[TEXTS_MAX];

    private final int[] textStarts = new int[TEXTS_MAX];
    private final int[] textLengths = new int[TEXTS_MAX];
    private final int[] textNumbers = new int[TEXTS_MAX];
    private final int[] textCounts;
    /** Number of texts in the block, of all columns together. */
    private int texts;

    /** The slot in {@link #textTable} at which the last search for an unknown text ended. */
    private int freeSlot;

    /** The values of all groups. The value of a text column is the number of the text plus one. */
    private final long[] groupValues;

    /** The values of the grouped columns in the row that is being appended. */
    private final long[] candidate;

    private int groups;

    private int blockStart;
    private int rows;
    private long firstTime;
    private long lastTime;

    /** Creates an encoder; {@link #begin} begins a block. */
    public BlockEncoder(BlockSchema schema) {
        this.schema = schema;
        List<Column> all = schema.columns();
        columns = all.toArray(new Column[0]);
        grouped = indexes(all, true);
        ungrouped = indexes(all, false);
        textColumns =
                (int) all.stream().filter(column -> column.type().isBytes()).count();
        textCounts = new int[columns.length];
        groupValues = new long[GROUPS_MAX * grouped.length];
        candidate = new long[grouped.length];
    }

    private static int[] indexes(List<Column> all, boolean isGrouped) {
        int[] indexes = new int[all.size()];
        int count = 0;
        for (int i = 0; i < indexes.length; i++) {
            if (all.get(i).isGrouped() == isGrouped) {
                indexes[count++] = i;
            }
        }
        return Arrays.copyOf(indexes, count);
    }

    /** The schema of the rows. */
    public BlockSchema schema() {
        return schema;
    }

    /** Begins a block at a position of the buffer. Returns the position of its first row. */
    public int begin(int at) {
        Arrays.fill(textTable, 0);
        Arrays.fill(groupTable, 0);
        Arrays.fill(textCounts, 0);
        texts = 0;
        groups = 0;
        rows = 0;
        lastTime = 0;
        blockStart = at;
        return at + BlockLayout.HEAD_BYTES;
    }

    /** The position of the block that was begun last. */
    public int blockStart() {
        return blockStart;
    }

    /** The number of rows in the block. */
    public int rows() {
        return rows;
    }

    /** Returns true if the block must be completed before the next row. */
    public boolean isFull(int at) {
        return at - blockStart - BlockLayout.HEAD_BYTES >= BlockLayout.PAYLOAD_BYTES
                || texts + textColumns > TEXTS_MAX
                || groups == GROUPS_MAX;
    }

    /** Writes the head of the block, whose payload ends at {@code end}. */
    public void complete(byte[] out, int end) {
        BlockLayout.writeHead(
                out,
                blockStart,
                BlockLayout.KIND_ROWS,
                end - blockStart - BlockLayout.HEAD_BYTES,
                schema.id(),
                rows,
                firstTime);
    }

    /** Returns the largest number of bytes of a row whose texts have {@code textBytes} bytes together. */
    public int maxRowBytes(int textBytes) {
        return textBytes + (columns.length + 1) * Varint.MAX_BYTES;
    }

    /** Appends a row to the block at the position {@code at}. Returns the position after the row. */
    public int append(Row row, byte[] out, int at) {
        int position = appendGroup(row, out, at);
        for (int column : ungrouped) {
            position = appendValue(row, column, out, position);
        }
        rows++;
        return position;
    }

    private int appendGroup(Row row, byte[] out, int at) {
        boolean isKnown = true;
        int hash = 0;
        for (int i = 0; i < grouped.length; i++) {
            int column = grouped[i];
            candidate[i] = columns[column].type().isBytes() ? numberOf(row, column, out) + 1L : number(row, column);
            isKnown &= candidate[i] >= 0;
            hash = hash * 31 + Long.hashCode(candidate[i]);
        }
        int slot = ((hash * HASH_FACTOR) >>> 16) & (groupTable.length - 1);
        while (isKnown && groupTable[slot] != 0) {
            int from = (groupTable[slot] - 1) * grouped.length;
            if (Arrays.equals(candidate, 0, grouped.length, groupValues, from, from + grouped.length)) {
                return Varint.write(out, at, groupTable[slot]);
            }
            slot = (slot + 1) & (groupTable.length - 1);
        }
        return appendNewGroup(row, out, at);
    }

    private int appendNewGroup(Row row, byte[] out, int at) {
        int position = Varint.write(out, at, 0);
        int hash = 0;
        for (int i = 0; i < grouped.length; i++) {
            int column = grouped[i];
            position = appendValue(row, column, out, position);
            long value = columns[column].type().isBytes() ? numberOf(row, column, out) + 1L : number(row, column);
            groupValues[groups * grouped.length + i] = value;
            hash = hash * 31 + Long.hashCode(value);
        }
        int slot = ((hash * HASH_FACTOR) >>> 16) & (groupTable.length - 1);
        while (groupTable[slot] != 0) {
            slot = (slot + 1) & (groupTable.length - 1);
        }
        groupTable[slot] = ++groups;
        return position;
    }

    private static long number(Row row, int column) {
        return Math.max(0, row.numbers[column]);
    }

    private int appendValue(Row row, int column, byte[] out, int at) {
        return switch (columns[column].type()) {
            case NUMBER -> Varint.write(out, at, number(row, column));
            case TIME -> appendTime(row.numbers[column], out, at);
            case TEXT, ADDRESS -> appendText(row, column, out, at);
        };
    }

    private int appendTime(long time, byte[] out, int at) {
        if (rows == 0) {
            firstTime = time;
            lastTime = time;
        }
        int position = Varint.write(out, at, Varint.zigzag(time - lastTime));
        lastTime = time;
        return position;
    }

    private int appendText(Row row, int column, byte[] out, int at) {
        int length = row.lengths[column];
        if (length == 0) {
            return Varint.write(out, at, 0);
        }
        int number = numberOf(row, column, out);
        if (number >= 0) {
            return Varint.write(out, at, number * 2L + 1);
        }
        int start = Varint.write(out, at, length * 4L + (row.cut[column] ? 2 : 0));
        boolean isText = columns[column].type() == ColumnType.TEXT;
        byte[] source = row.sources[column];
        int from = row.starts[column];
        for (int i = 0; i < length; i++) {
            byte octet = source[from + i];
            out[start + i] = isText && (octet == 0 || octet == '\n') ? (byte) '?' : octet;
        }
        // numberOf has left a free slot for the text.
        addText(owner(column, row.cut[column]), column, start, length);
        return start + length;
    }

    private void addText(int owner, int column, int start, int length) {
        textOwners[texts] = owner;
        textStarts[texts] = start;
        textLengths[texts] = length;
        textNumbers[texts] = textCounts[column]++;
        textTable[freeSlot] = ++texts;
    }

    /** Returns the number of a text in its column: -1 if it is absent, and -2 if the block does not contain it yet. */
    private int numberOf(Row row, int column, byte[] out) {
        int length = row.lengths[column];
        if (length == 0) {
            return -1;
        }
        int owner = owner(column, row.cut[column]);
        byte[] source = row.sources[column];
        int start = row.starts[column];
        int slot = slotOf(owner, source, start, length);
        while (textTable[slot] != 0) {
            int text = textTable[slot] - 1;
            int knownStart = textStarts[text];
            if (textOwners[text] == owner
                    && textLengths[text] == length
                    && Arrays.equals(source, start, start + length, out, knownStart, knownStart + length)) {
                return textNumbers[text];
            }
            slot = (slot + 1) & (textTable.length - 1);
        }
        freeSlot = slot;
        return -2;
    }

    /** Returns the element of {@link #textOwners} for a text of a column. */
    private static int owner(int column, boolean isCut) {
        return column * 2 + (isCut ? 1 : 0);
    }

    /** Hashes eight bytes at a time: texts such as URLs are hashed for each row. */
    private int slotOf(int owner, byte[] source, int start, int length) {
        long hash = owner + (long) length * LONG_HASH_FACTOR;
        int end = start + length;
        int at = start;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = (hash ^ BlockLayout.longAt(source, at)) * LONG_HASH_FACTOR;
            hash ^= hash >>> 32;
        }
        for (; at < end; at++) {
            hash = (hash ^ source[at]) * LONG_HASH_FACTOR;
        }
        return (int) (((hash ^ (hash >>> 29)) * LONG_HASH_FACTOR) >>> 40) & (textTable.length - 1);
    }
}
