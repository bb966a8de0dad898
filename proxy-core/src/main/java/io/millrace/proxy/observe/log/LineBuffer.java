package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.log.block.BlockLayout;
import io.netty.util.NetUtil;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A buffer for the log lines of one batch. Its methods escape data from clients, so that a client cannot forge a line,
 * a column or a quote. Each line has exactly one line feed. A buffer of a binary log has blocks instead, whose rows
 * count as lines. Not thread-safe.
 */
public final class LineBuffer {
    /**
     * Limit of a line in bytes. A byte of a record becomes at most six bytes, in JSON. The remaining 512 bytes
     * are for fixed text.
     */
    static final int MAX_LINE_BYTES = 6 * AccessLogRecord.MAX_LENGTH + 512;

    private static final byte[] TRUNCATED = "...".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HEX_DIGITS = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);
    /** Bytes that {@link #putWord} does not escape. */
    private static final boolean[] IN_WORD = new boolean[256];

    static {
        for (int c = ' ' + 1; c < 0x7f; c++) {
            IN_WORD[c] = c != '"' && c != '\\';
        }
    }

    /** The first bytes of an IPv4-mapped IPv6 address (::ffff:0:0/96). */
    private static final byte[] MAPPED_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    static final int MAPPED_PREFIX_LENGTH = 12;

    private final int maxLineBytes;
    private final byte[] bytes;
    private final ByteBuffer view;
    private int length;
    private int lines;
    private boolean hasBlocks;

    /** The format that adds rows to the last block; null if the last block is complete, and for text. */
    private @Nullable BinaryLines openBlock;

    /** Creates a buffer for the lines of one of the named formats. */
    LineBuffer(int batchBytes) {
        this(batchBytes, MAX_LINE_BYTES);
    }

    /** Creates a buffer for {@code batchBytes} plus one line. No line may exceed {@code maxLineBytes}. */
    public LineBuffer(int batchBytes, int maxLineBytes) {
        this.maxLineBytes = maxLineBytes;
        bytes = new byte[batchBytes + maxLineBytes];
        view = ByteBuffer.wrap(bytes);
        clear();
    }

    /** Removes all lines. */
    public void clear() {
        length = 0;
        lines = 0;
        hasBlocks = false;
        openBlock = null;
        view.clear().limit(0);
    }

    /** Returns true if another line of maximum length fits. */
    public boolean hasRoom() {
        return bytes.length - length >= maxLineBytes;
    }

    /** Returns true if there are no bytes. */
    public boolean isEmpty() {
        return length == 0;
    }

    /** The number of bytes. */
    public int length() {
        return length;
    }

    /** Removes the bytes after the start of a line. */
    public void truncate(int lineStart) {
        length = lineStart;
    }

    /** The number of complete lines. */
    public int lines() {
        return lines;
    }

    /** Returns a view of the bytes that are not written yet. The log target moves its position. */
    public ByteBuffer unwritten() {
        view.limit(length);
        return view;
    }

    /** Returns true if the last block may get more rows. False for text. */
    public boolean hasOpenBlock() {
        return openBlock != null;
    }

    /** Returns true if there are bytes, but no complete block among them. False for text. */
    public boolean holdsOnlyOpenBlock() {
        return openBlock != null && openBlock.blockStart() == 0;
    }

    /** Completes the last block, so that it can be written. No effect on text. */
    public void completeBlock() {
        BinaryLines open = openBlock;
        if (open != null) {
            openBlock = null;
            open.complete(this);
        }
    }

    @Nullable
    BinaryLines openBlock() {
        return openBlock;
    }

    void openBlock(BinaryLines format) {
        openBlock = format;
        hasBlocks = true;
    }

    /** The bytes, for an encoder that then calls {@link #advance}. */
    byte[] array() {
        return bytes;
    }

    /** Moves the end of the bytes. */
    void advance(int end) {
        length = end;
    }

    /** Appends bytes as one row, without escapes. */
    void putRow(byte[] source, int start, int count) {
        System.arraycopy(source, start, bytes, length, count);
        length += count;
        lines++;
    }

    /** Counts a row whose bytes an encoder has written into {@link #array}. */
    void endRow() {
        lines++;
    }

    /** Prints all lines. */
    public void printTo(PrintStream out) {
        out.write(bytes, 0, length);
    }

    /** Returns the number of complete lines before the position of {@link #unwritten}. */
    public int linesWritten() {
        if (hasBlocks) {
            return BlockLayout.rowsBefore(view, BlockLayout.blockStart(view, view.position()));
        }
        int count = 0;
        for (int i = 0; i < view.position(); i++) {
            if (bytes[i] == '\n') {
                count++;
            }
        }
        return count;
    }

    /** Moves the position of {@link #unwritten} back to the start of a partly written line or block. */
    public void rewindToLineStart() {
        if (hasBlocks) {
            view.position(BlockLayout.blockStart(view, view.position()));
            return;
        }
        int position = view.position();
        while (position > 0 && bytes[position - 1] != '\n') {
            position--;
        }
        view.position(position);
    }

    void endLine() {
        put('\n');
        lines++;
    }

    /** Appends one ASCII character, without escapes. */
    public void put(char c) {
        bytes[length++] = (byte) c;
    }

    void put(byte[] text) {
        System.arraycopy(text, 0, bytes, length, text.length);
        length += text.length;
    }

    /** Appends ASCII text of the proxy itself, without escapes. */
    public void putAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            bytes[length++] = (byte) text.charAt(i);
        }
    }

    /** Appends a decimal number. A negative number is written as 0. */
    public void putDecimal(long value) {
        long positive = Math.max(value, 0);
        if (positive <= Integer.MAX_VALUE) {
            putInt((int) positive);
            return;
        }
        int digits = 1;
        for (long rest = positive; rest >= 10; rest /= 10) {
            digits++;
        }
        putDecimal(positive, digits);
    }

    private void putInt(int value) {
        int digits = 1;
        for (long limit = 10; value >= limit; limit *= 10) {
            digits++;
        }
        int rest = value;
        for (int i = length + digits - 1; i >= length; i--) {
            int shorter = rest / 10;
            bytes[i] = (byte) ('0' + rest - shorter * 10);
            rest = shorter;
        }
        length += digits;
    }

    /** Appends the lowest {@code digits} digits of a number, with leading zeros. */
    public void putDecimal(long value, int digits) {
        long rest = Math.max(value, 0);
        for (int i = length + digits - 1; i >= length; i--) {
            bytes[i] = (byte) ('0' + (int) (rest % 10));
            rest /= 10;
        }
        length += digits;
    }

    private void putHex(int octet) {
        bytes[length++] = HEX_DIGITS[octet >> 4];
        bytes[length++] = HEX_DIGITS[octet & 0xf];
    }

    /** Appends bytes in lower-case hexadecimal; {@code -} if there are none. */
    void putHex(byte[] source, int start, int count) {
        if (count <= 0) {
            put('-');
        }
        for (int i = start; i < start + count; i++) {
            bytes[length++] = (byte) Character.forDigit(source[i] >> 4 & 0xf, 16);
            bytes[length++] = (byte) Character.forDigit(source[i] & 0xf, 16);
        }
    }

    /** Appends a number in lower-case hexadecimal. A negative number is written as 0. */
    void putHex(long value) {
        long positive = Math.max(value, 0);
        int shift = 60;
        while (shift > 0 && positive >>> shift == 0) {
            shift -= 4;
        }
        for (; shift >= 0; shift -= 4) {
            bytes[length++] = (byte) Character.forDigit((int) (positive >>> shift) & 0xf, 16);
        }
    }

    /** Appends bytes within a JSON string (RFC 8259 s7), each byte as one character. */
    void putJson(byte[] source, int start, int count) {
        for (int i = start; i < start + count; i++) {
            int c = source[i] & 0xff;
            if (c == '"' || c == '\\') {
                bytes[length++] = '\\';
                bytes[length++] = (byte) c;
            } else if (c < ' ' || c >= 0x7f) {
                putAscii("\\u00");
                putHex(c);
            } else {
                bytes[length++] = (byte) c;
            }
        }
    }

    /**
     * Appends the client's address in the format of RFC 5952. Mapped IPv4 addresses are written as IPv4, and the peer
     * of a Unix socket as {@code unix:}.
     */
    void putClient(LoggedRecord logged) {
        int addressLength = logged.clientLength();
        int start = logged.clientStart();
        if (addressLength == 0) {
            put('-');
        } else if (logged.isUnixClient()) {
            putAscii(LoggedRecord.UNIX_CLIENT);
        } else if (addressLength == 4) {
            putIpv4(logged.bytes(), start);
        } else if (isMapped(logged.bytes(), start)) {
            putIpv4(logged.bytes(), start + MAPPED_PREFIX.length);
        } else {
            putAscii(NetUtil.bytesToIpAddress(logged.bytes(), start, addressLength));
        }
    }

    /** Returns true if the 16 bytes of an IPv6 address are an IPv4-mapped address (::ffff:0:0/96). */
    static boolean isMapped(byte[] source, int start) {
        for (int i = 0; i < MAPPED_PREFIX.length; i++) {
            if (source[start + i] != MAPPED_PREFIX[i]) {
                return false;
            }
        }
        return true;
    }

    private void putIpv4(byte[] source, int start) {
        for (int i = 0; i < 4; i++) {
            if (i > 0) {
                put('.');
            }
            putDecimal(source[start + i] & 0xff);
        }
    }

    /**
     * Appends a text as one word, with blanks, controls, quotes, backslashes and non-ASCII bytes percent-encoded;
     * {@code -} if absent.
     */
    void putWord(LoggedRecord logged, LogField field) {
        int textLength = logged.textLength(field);
        if (textLength <= 0) {
            put('-');
            return;
        }
        putWord(logged.bytes(), logged.textStart(field), textLength);
        putTruncation(logged, field);
    }

    /** Appends bytes as one word, with the escapes of {@link #putWord(LoggedRecord, LogField)}. */
    void putWord(byte[] source, int start, int count) {
        int end = start + count;
        int plain = start;
        while (plain < end && IN_WORD[source[plain] & 0xff]) {
            plain++;
        }
        System.arraycopy(source, start, bytes, length, plain - start);
        length += plain - start;
        for (int i = plain; i < end; i++) {
            int c = source[i] & 0xff;
            if (!IN_WORD[c]) {
                bytes[length++] = '%';
                putHex(c);
            } else {
                bytes[length++] = (byte) c;
            }
        }
    }

    /**
     * Appends a text within double quotes. Escapes quotes and backslashes by a backslash, and other special bytes
     * as {@code \xHH}.
     */
    void putQuoted(LoggedRecord logged, LogField field) {
        int textLength = logged.textLength(field);
        if (textLength <= 0) {
            put('-');
            return;
        }
        putQuoted(logged.bytes(), logged.textStart(field), textLength);
        putTruncation(logged, field);
    }

    /** Appends bytes within double quotes, with the escapes of {@link #putQuoted(LoggedRecord, LogField)}. */
    void putQuoted(byte[] source, int start, int count) {
        for (int i = start; i < start + count; i++) {
            int c = source[i] & 0xff;
            if (c == '"' || c == '\\') {
                bytes[length++] = '\\';
                bytes[length++] = (byte) c;
            } else if (c < ' ' || c >= 0x7f) {
                bytes[length++] = '\\';
                bytes[length++] = 'x';
                putHex(c);
            } else {
                bytes[length++] = (byte) c;
            }
        }
    }

    /** Appends {@code ...} if the text was truncated. */
    void putTruncation(LoggedRecord logged, LogField field) {
        if (logged.isTruncated(field)) {
            put(TRUNCATED);
        }
    }
}
