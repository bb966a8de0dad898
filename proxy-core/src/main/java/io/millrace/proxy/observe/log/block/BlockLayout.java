package io.millrace.proxy.observe.log.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The layout of a block in a binary log. Numbers are in network order.
 *
 * <pre>
 *    0        4        8                 12
 *   +--------+--------+--------+--------+
 *   | magic  | v k 0 0| length | schema |   v: version, k: kind; length: of the payload in bytes;
 *   +--------+--------+--------+--------+   schema: id, the CRC32C of the schema's payload
 *   | rows   | first time, ms  |  CRC   |   CRC32C of the 28 bytes before and of the payload
 *   +--------+-----------------+--------+
 *   | payload ...
 * </pre>
 *
 * <p>The magic number contains a zero byte and a line feed, which no text in a payload contains. So no client can
 * imitate a block within a damaged block. Stateless.
 */
public final class BlockLayout {
    /** Length of the head in bytes. */
    public static final int HEAD_BYTES = 32;

    /** Payload size in bytes at which a block is complete. A row may exceed it. */
    public static final int PAYLOAD_BYTES = 1 << 16;

    /** Limit of a payload in bytes; a longer one is damaged. */
    static final int PAYLOAD_BYTES_MAX = 1 << 20;

    /** Version of the layout. */
    public static final int VERSION = 1;

    /** Kind of a block whose payload is a schema. */
    static final int KIND_SCHEMA = 'S';
    /** Kind of a block whose payload is rows. */
    static final int KIND_ROWS = 'R';

    static final int MAGIC = 0xf14d000a;
    static final int VERSION_OFFSET = 4;
    static final int LENGTH_OFFSET = 8;
    static final int SCHEMA_OFFSET = 12;
    static final int ROWS_OFFSET = 16;
    static final int TIME_OFFSET = 20;
    static final int CRC_OFFSET = 28;

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private BlockLayout() {}

    static int intAt(byte[] bytes, int at) {
        return (int) INTS.get(bytes, at);
    }

    static long longAt(byte[] bytes, int at) {
        return (long) LONGS.get(bytes, at);
    }

    /** Writes the head of a block. Its payload is already in the array, after the head. */
    static void writeHead(byte[] out, int at, int kind, int payloadBytes, int schemaId, int rows, long firstTime) {
        INTS.set(out, at, MAGIC);
        INTS.set(out, at + VERSION_OFFSET, VERSION << 24 | kind << 16);
        INTS.set(out, at + LENGTH_OFFSET, payloadBytes);
        INTS.set(out, at + SCHEMA_OFFSET, schemaId);
        INTS.set(out, at + ROWS_OFFSET, rows);
        LONGS.set(out, at + TIME_OFFSET, firstTime);
        INTS.set(out, at + CRC_OFFSET, crc(out, at, payloadBytes));
    }

    /** Returns the checksum of a block without its own four bytes. */
    static int crc(byte[] block, int at, int payloadBytes) {
        CRC32C crc = new CRC32C();
        crc.update(block, at, CRC_OFFSET);
        crc.update(block, at + HEAD_BYTES, payloadBytes);
        return (int) crc.getValue();
    }

    /** Returns the length of the block that begins at a position, head and payload. */
    static int blockBytes(ByteBuffer blocks, int at) {
        return HEAD_BYTES + blocks.getInt(at + LENGTH_OFFSET);
    }

    /**
     * Returns the start of the block that contains a position; the position itself if a block begins there.
     *
     * @param blocks complete blocks from index 0, in network order
     */
    public static int blockStart(ByteBuffer blocks, int position) {
        int start = 0;
        while (start < position) {
            int next = start + blockBytes(blocks, start);
            if (next > position) {
                return start;
            }
            start = next;
        }
        return start;
    }

    /** Returns the number of rows in the blocks before a position at which a block begins. */
    public static int rowsBefore(ByteBuffer blocks, int position) {
        int rows = 0;
        for (int start = 0; start < position; start += blockBytes(blocks, start)) {
            rows += blocks.getInt(start + ROWS_OFFSET);
        }
        return rows;
    }
}
