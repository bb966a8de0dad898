package io.millrace.proxy.http2.hpack;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import java.util.Arrays;

/**
 * The HPACK decoder of one connection, with its dynamic table (RFC 7541). Each received block must be decoded,
 * even if its fields are discarded, because blocks change the dynamic table.
 *
 * <p>Confined to one event loop.
 */
public final class HpackDecoder {
    /** Size of the dynamic table that peers may use: the default of SETTINGS_HEADER_TABLE_SIZE. */
    public static final int TABLE_BYTES_MAX = 4096;

    /** Bytes counted for each entry in addition to its name and value (RFC 7541 s4.1). */
    private static final int ENTRY_OVERHEAD = 32;
    /** Number of slots for entries that the first entry allocates; a power of two. */
    private static final int ENTRIES_AT_FIRST = 16;
    /** Limit of a decoded integer, far above any valid length or index. */
    private static final int INTEGER_MAX = 1 << 24;

    private static final byte[] NOTHING = {};
    private static final byte[][] NO_ENTRIES = {};
    private static final int[] NO_LENGTHS = {};

    /** Receives the decoded fields. */
    public interface Receiver {
        /** Receives one field. Both arrays are borrowed. */
        void add(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength);

        /** Returns an array for decoded text, of at least this size; valid until the next call. */
        byte[] text(int size);
    }

    /**
     * The dynamic table as a ring buffer. Each entry contains the name, followed by the value. The array is empty
     * until the first entry, to save memory.
     */
    private byte[][] entries = NO_ENTRIES;

    private int[] nameLengths = NO_LENGTHS;
    /** Slot of the newest entry. */
    private int newest;
    /** Number of entries. */
    private int count;
    /** Size of the table, with {@link #ENTRY_OVERHEAD} for each entry. */
    private int bytes;

    private int bytesMax = TABLE_BYTES_MAX;

    /** The block that is being decoded. */
    private byte[] in = NOTHING;

    private int position;
    private int end;

    /**
     * Decodes a complete field block.
     *
     * @param block borrowed
     * @param out receives all fields, in order
     * @throws Http2Exception always an error of the connection, because the dynamic tables of both sides no
     * longer agree
     */
    public void decode(byte[] block, int from, int to, Receiver out) throws Http2Exception {
        in = block;
        position = from;
        end = to;
        boolean first = true;
        while (position < end) {
            int b = in[position];
            if ((b & 0x80) != 0) {
                indexed(integer(7), out);
            } else if ((b & 0x40) != 0) {
                literal(integer(6), true, out);
            } else if ((b & 0x20) != 0) {
                if (!first) {
                    throw malformed("a table size update after a field");
                }
                resize(integer(5));
                continue;
            } else {
                literal(integer(4), false, out);
            }
            first = false;
        }
        in = NOTHING;
    }

    private void indexed(int index, Receiver out) throws Http2Exception {
        if (index > 0 && index <= StaticTable.SIZE) {
            byte[] name = StaticTable.name(index);
            byte[] value = StaticTable.value(index);
            out.add(name, 0, name.length, value, 0, value.length);
        } else {
            int slot = slot(index);
            byte[] entry = entries[slot];
            int nameLength = nameLengths[slot];
            out.add(entry, 0, nameLength, entry, nameLength, entry.length - nameLength);
        }
    }

    private void literal(int nameIndex, boolean indexing, Receiver out) throws Http2Exception {
        byte[] name;
        int nameStart = 0;
        int nameLength;
        byte[] text = out.text(HuffmanCode.decodedMax(end - position));
        int textEnd = 0;
        if (nameIndex == 0) {
            textEnd = string(text, 0);
            name = textEnd < 0 ? in : text;
            nameStart = textEnd < 0 ? ~textEnd : 0;
            nameLength = textEnd < 0 ? position - nameStart : textEnd;
            textEnd = Math.max(0, textEnd);
        } else if (nameIndex <= StaticTable.SIZE) {
            name = StaticTable.name(nameIndex);
            nameLength = name.length;
        } else {
            int slot = slot(nameIndex);
            name = entries[slot];
            nameLength = nameLengths[slot];
        }
        int valueEnd = string(text, textEnd);
        byte[] value = valueEnd < 0 ? in : text;
        int valueStart = valueEnd < 0 ? ~valueEnd : textEnd;
        int valueLength = valueEnd < 0 ? position - valueStart : valueEnd - textEnd;
        out.add(name, nameStart, nameLength, value, valueStart, valueLength);
        if (indexing) {
            insert(name, nameStart, nameLength, value, valueStart, valueLength);
        }
    }

    /**
     * Reads a string and moves the position past it.
     *
     * @return for a Huffman-coded string, the end of the decoded text in {@code text}; for a plain string, the
     * bitwise complement ({@code ~}) of its start in the block
     */
    private int string(byte[] text, int at) throws Http2Exception {
        if (position >= end) {
            throw malformed("a field block that ends within a field");
        }
        boolean encoded = (in[position] & 0x80) != 0;
        int length = integer(7);
        if (length > end - position) {
            throw malformed("a string longer than its field block");
        }
        int start = position;
        position += length;
        if (!encoded) {
            return ~start;
        }
        int decodedEnd = HuffmanCode.decode(in, start, position, text, at);
        if (decodedEnd == HuffmanCode.MALFORMED) {
            throw malformed("invalid Huffman code");
        }
        return decodedEnd;
    }

    /** Reads an integer with a prefix of {@code prefix} bits (RFC 7541 s5.1). */
    private int integer(int prefix) throws Http2Exception {
        int max = (1 << prefix) - 1;
        int value = in[position++] & max;
        if (value < max) {
            return value;
        }
        for (int shift = 0; shift <= 21; shift += 7) {
            if (position >= end) {
                throw malformed("a field block that ends within an integer");
            }
            int b = in[position++];
            value += (b & 0x7f) << shift;
            if (b >= 0) {
                if (value > INTEGER_MAX) {
                    break;
                }
                return value;
            }
        }
        throw malformed("an integer above 2^24");
    }

    private int slot(int index) throws Http2Exception {
        int age = index - StaticTable.SIZE - 1;
        if (age < 0 || age >= count) {
            throw malformed("an index beyond the end of the tables");
        }
        return (newest - age) & (entries.length - 1);
    }

    private void resize(int newMax) throws Http2Exception {
        if (newMax > TABLE_BYTES_MAX) {
            throw malformed("a table size update above SETTINGS_HEADER_TABLE_SIZE");
        }
        bytesMax = newMax;
        evictTo(newMax);
    }

    private void insert(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
        int added = nameLength + valueLength + ENTRY_OVERHEAD;
        if (added > bytesMax) {
            evictTo(0);
            return;
        }
        byte[] entry = new byte[nameLength + valueLength];
        System.arraycopy(name, nameStart, entry, 0, nameLength);
        System.arraycopy(value, valueStart, entry, nameLength, valueLength);
        evictTo(bytesMax - added);
        if (count == entries.length) {
            grow();
        }
        newest = (newest + 1) & (entries.length - 1);
        entries[newest] = entry;
        nameLengths[newest] = nameLength;
        count++;
        bytes += added;
    }

    private void grow() {
        byte[][] before = entries;
        int[] lengthsBefore = nameLengths;
        int capacity = Math.max(ENTRIES_AT_FIRST, before.length * 2);
        entries = Arrays.copyOf(before, capacity);
        nameLengths = Arrays.copyOf(lengthsBefore, capacity);
        for (int i = 0; i < count; i++) {
            int slot = (newest - count + 1 + i) & (before.length - 1);
            entries[i] = before[slot];
            nameLengths[i] = lengthsBefore[slot];
        }
        newest = count - 1;
    }

    private void evictTo(int bytesLeft) {
        while (bytes > bytesLeft) {
            int oldest = (newest - count + 1) & (entries.length - 1);
            bytes -= entries[oldest].length + ENTRY_OVERHEAD;
            entries[oldest] = NOTHING;
            count--;
        }
    }

    private static Http2Exception malformed(String what) {
        return Http2Exception.connection(ErrorCode.COMPRESSION_ERROR, Http2Fault.COMPRESSION, what);
    }
}
