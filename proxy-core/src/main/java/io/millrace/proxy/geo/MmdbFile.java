package io.millrace.proxy.geo;

import io.millrace.proxy.http.IpAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A file in the MaxMind DB format, version 2: a binary tree of address prefixes, whose leaves refer to maps of values,
 * and a map of metadata at the end. The file is copied into direct memory, so that later changes of the file have no
 * effect. Immutable and thread-safe.
 *
 * <p>Every position is checked against the end of the file, and the depth of nested values is limited. So a damaged
 * file can at worst give the values of another address.
 */
public final class MmdbFile {
    /** Result of {@link #find} for an address that is not in the file. */
    public static final int NONE = -1;

    private static final byte[] MARKER = "\u00ab\u00cd\u00efMaxMind.com".getBytes(StandardCharsets.ISO_8859_1);

    /** The metadata begins within this many bytes before the end of a file (MaxMind DB specification). */
    private static final int METADATA_MAX = 128 * 1024;

    /** Limit of the size of a file in bytes, since it is copied into memory. City databases have about 100 MB. */
    static final int BYTES_MAX = 512 * 1024 * 1024;

    /** Bytes between the tree and the values. */
    private static final int SEPARATOR = 16;

    private static final int VERSION = 2;
    private static final int V4_BITS = 32;
    private static final int V6_BITS = 128;
    private static final int V4_PREFIX_BITS = V6_BITS - V4_BITS;

    private final Path path;
    private final ByteBuffer bytes;
    private final MmdbValues values;
    private final long nodes;
    private final int recordBits;
    private final boolean hasV6;
    private final long treeBytes;
    private final long v4Start;

    private MmdbFile(Path path, ByteBuffer bytes) throws MmdbException {
        this.path = path;
        this.bytes = bytes;
        int metadata = metadata();
        MmdbValues metadataValues = new MmdbValues(bytes, metadata, bytes.limit());
        long version = metadataValues.number(metadata, "binary_format_major_version");
        if (version != VERSION) {
            throw fault("has the format version " + version + ", and only " + VERSION + " is supported");
        }
        nodes = metadataValues.number(metadata, "node_count");
        recordBits = (int) metadataValues.number(metadata, "record_size");
        long ipVersion = metadataValues.number(metadata, "ip_version");
        if (nodes < 1 || (recordBits != 24 && recordBits != 28 && recordBits != 32)) {
            throw fault("is damaged: node_count is " + nodes + ", record_size is " + recordBits);
        }
        if (ipVersion != 4 && ipVersion != 6) {
            throw fault("is damaged: ip_version is " + ipVersion + ", and 4 or 6 is expected");
        }
        hasV6 = ipVersion == 6;
        treeBytes = nodes * recordBits / 4;
        int end = metadata - MARKER.length;
        if (treeBytes + SEPARATOR > end) {
            throw fault("is cut off: the tree of " + nodes + " nodes is longer than the file");
        }
        values = new MmdbValues(bytes, (int) treeBytes + SEPARATOR, end);
        v4Start = hasV6 ? v4Start() : 0;
    }

    /**
     * Reads a file into direct memory. Blocks.
     *
     * @throws MmdbException if the file cannot be read, is too large, changes while it is read, or is damaged
     */
    public static MmdbFile open(Path path) throws MmdbException {
        return open(path, BYTES_MAX);
    }

    static MmdbFile open(Path path, int bytesMax) throws MmdbException {
        return read(path, channel -> copy(path, channel, bytesMax));
    }

    /**
     * Checks the metadata of a file. Blocks.
     *
     * @throws MmdbException if the file cannot be read, is too large or is damaged
     */
    public static void check(Path path) throws MmdbException {
        read(path, channel -> channel.map(FileChannel.MapMode.READ_ONLY, 0, size(path, channel, BYTES_MAX)));
    }

    /** Reads the bytes of an open file. */
    private interface Reader {
        ByteBuffer read(FileChannel channel) throws IOException, MmdbException;
    }

    private static MmdbFile read(Path path, Reader reader) throws MmdbException {
        if (Files.isDirectory(path)) {
            throw new MmdbException(path + " is a directory, not a file");
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return new MmdbFile(path, reader.read(channel));
        } catch (IndexOutOfBoundsException e) {
            throw new MmdbException(path + " is damaged: " + e.getMessage());
        } catch (InternalError e) {
            // The file became shorter while it was mapped.
            throw changing(path);
        } catch (OutOfMemoryError e) {
            throw new MmdbException(path + " does not fit into direct memory; raise -XX:MaxDirectMemorySize");
        } catch (NoSuchFileException e) {
            throw new MmdbException(path + ": no such file");
        } catch (AccessDeniedException e) {
            throw new MmdbException(path + ": permission denied");
        } catch (IOException e) {
            throw new MmdbException(path + " cannot be read: " + e.getMessage());
        }
    }

    private static int size(Path path, FileChannel channel, int bytesMax) throws IOException, MmdbException {
        long size = channel.size();
        if (size > bytesMax) {
            throw new MmdbException(path + " has " + size + " bytes, limit=" + bytesMax);
        }
        return (int) size;
    }

    /** Returns a copy of a file in direct memory. The garbage collector frees it. */
    private static ByteBuffer copy(Path path, FileChannel channel, int bytesMax) throws IOException, MmdbException {
        FileTime before = Files.getLastModifiedTime(path);
        ByteBuffer copy = ByteBuffer.allocateDirect(size(path, channel, bytesMax));
        int length = 0;
        while (copy.hasRemaining() && length >= 0) {
            length = channel.read(copy);
        }
        if (copy.hasRemaining()
                || channel.size() != copy.capacity()
                || !Files.getLastModifiedTime(path).equals(before)) {
            throw changing(path);
        }
        return copy.flip();
    }

    private static MmdbException changing(Path path) {
        return new MmdbException(path + " changes while it is read");
    }

    private MmdbException fault(String problem) {
        return new MmdbException(path + " " + problem);
    }

    /** Returns the position after the last marker, at which the metadata begins. */
    private int metadata() throws MmdbException {
        int first = Math.max(0, bytes.limit() - METADATA_MAX);
        for (int at = bytes.limit() - MARKER.length; at >= first; at--) {
            int same = 0;
            while (same < MARKER.length && bytes.get(at + same) == MARKER[same]) {
                same++;
            }
            if (same == MARKER.length) {
                return at + MARKER.length;
            }
        }
        throw fault("is not a MaxMind DB file: it has no metadata");
    }

    /** Returns the node or record of the prefix ::/96, which contains the IPv4 addresses. */
    private long v4Start() {
        long node = 0;
        for (int i = 0; i < V4_PREFIX_BITS && node < nodes; i++) {
            node = record(node, 0);
        }
        return node;
    }

    /**
     * Returns the position of the values for an address.
     *
     * @return {@link #NONE} if there are none
     */
    public int find(IpAddress address) {
        boolean v4 = address.isV4();
        if (!v4 && !hasV6) {
            return NONE;
        }
        long node = v4 ? v4Start : 0;
        for (int i = v4 ? V4_PREFIX_BITS : 0; i < V6_BITS && node < nodes; i++) {
            long half = i < Long.SIZE ? address.high() : address.low();
            node = record(node, (int) (half >>> (Long.SIZE - 1 - i % Long.SIZE)) & 1);
        }
        // If the record equals the number of nodes, the file has no values for the address. A higher record is the
        // position of the values.
        long at = treeBytes + node - nodes;
        return node <= nodes || at >= values.end() ? NONE : (int) at;
    }

    private long record(long node, int side) {
        int at = (int) (node * recordBits / 4);
        if (recordBits == 28) {
            int middle = bytes.get(at + 3) & 0xff;
            return side == 0 ? (long) (middle >> 4) << 24 | number(at, 3) : (middle & 0xf) << 24 | number(at + 4, 3);
        }
        int length = recordBits / Byte.SIZE;
        return number(at + side * length, length);
    }

    private long number(int at, int length) {
        long number = 0;
        for (int i = 0; i < length; i++) {
            number = number << Byte.SIZE | (bytes.get(at + i) & 0xff);
        }
        return number;
    }

    /**
     * Returns the text at a path of keys through nested maps.
     *
     * @param at result of {@link #find}
     * @return null if there is none
     */
    public @Nullable String text(int at, String... keys) {
        @Nullable String[] found = {null};
        read(fileValues -> {
            found[0] = fileValues.text(at, keys);
            return 0;
        });
        return found[0];
    }

    /**
     * Returns the number with a key.
     *
     * @param at result of {@link #find}
     * @return negative if there is none
     */
    public long number(int at, String key) {
        return read(fileValues -> fileValues.number(at, key));
    }

    /** Reads a value. In a damaged file, the value counts as missing. */
    private long read(ToLongFunction<MmdbValues> reader) {
        try {
            return reader.applyAsLong(values);
        } catch (IndexOutOfBoundsException e) {
            return -1;
        }
    }
}
