package io.millrace.proxy.observe.log.block;

import java.util.Arrays;

/**
 * The values of one row, by index of the column. The bytes of texts are borrowed: from the code that sets them, or from
 * the decoded block. Reused for all rows. Confined to one thread.
 */
public final class Row {
    private static final byte[] EMPTY = {};

    final long[] numbers;
    final byte[][] sources;
    final int[] starts;
    final int[] lengths;
    final boolean[] cut;

    /** Creates a row in which every number is 0 and every text is absent. */
    public Row(BlockSchema schema) {
        int count = schema.columns().size();
        numbers = new long[count];
        sources = new byte[count][];
        starts = new int[count];
        lengths = new int[count];
        cut = new boolean[count];
        clear();
    }

    /** Sets every number to 0 and every text to absent. */
    public void clear() {
        Arrays.fill(numbers, 0);
        Arrays.fill(sources, EMPTY);
        Arrays.fill(starts, 0);
        Arrays.fill(lengths, 0);
        Arrays.fill(cut, false);
    }

    /**
     * Sets a number, or a time in epoch milliseconds. {@link BlockEncoder} writes a negative number as 0, and keeps a
     * negative time.
     */
    public void number(int column, long value) {
        numbers[column] = value;
    }

    /**
     * Sets a text. The bytes are borrowed until the row is encoded.
     *
     * @param length 0 or less if the text is absent
     * @param isCut whether the text is the beginning of a longer one
     */
    public void text(int column, byte[] source, int start, int length, boolean isCut) {
        sources[column] = source;
        starts[column] = start;
        lengths[column] = Math.max(0, length);
        cut[column] = isCut && length > 0;
    }

    /** The number or time of a column. */
    public long number(int column) {
        return numbers[column];
    }

    /** The array with the bytes of a text. */
    public byte[] source(int column) {
        return sources[column];
    }

    /** The position of a text in {@link #source}. */
    public int start(int column) {
        return starts[column];
    }

    /** The length of a text; 0 if it is absent. */
    public int length(int column) {
        return lengths[column];
    }

    /** Returns true if the text is the beginning of a longer one. */
    public boolean isCut(int column) {
        return cut[column];
    }
}
