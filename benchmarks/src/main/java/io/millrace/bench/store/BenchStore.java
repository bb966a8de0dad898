package io.millrace.bench.store;

import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.engine.StoreEngine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A store with numbered objects for benchmarks. Key, head and body of object {@code n} are derived from {@code n}, so
 * that every byte that is read can be verified.
 *
 * <p>Thread-safe.
 */
final class BenchStore implements AutoCloseable {
    private static final int PATTERN_BYTES = 1 << 20;
    private static final long REFUSED_WAIT_NANOS = 200_000;

    private final CacheStore<PlainHead> store;
    /**
     * The same random bytes twice. A body is a section of this array; the number of the object determines where the
     * section starts.
     */
    private final byte[] pattern = new byte[2 * PATTERN_BYTES];

    private final ByteBuf source;

    BenchStore(StoreConfig.Builder config) throws IOException {
        store = StoreEngine.open(config.build(), new PlainHead.Codec());
        SplittableRandom random = new SplittableRandom(42);
        byte[] once = new byte[PATTERN_BYTES];
        random.nextBytes(once);
        System.arraycopy(once, 0, pattern, 0, PATTERN_BYTES);
        System.arraycopy(once, 0, pattern, PATTERN_BYTES, PATTERN_BYTES);
        source = Unpooled.unreleasableBuffer(
                Unpooled.directBuffer(2 * PATTERN_BYTES).writeBytes(pattern));
    }

    CacheStore<PlainHead> store() {
        return store;
    }

    StoreKey key(long number) {
        return store.key(("http://bench.example.com/object/" + number).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static int start(long number) {
        return (int) (((number * 0x9E37_79B9_7F4A_7C15L) >>> 40) & (PATTERN_BYTES - 1));
    }

    /** Stores object {@code number}, and tries again while the store refuses it. Blocks. */
    void put(long number, long length) {
        // The store refuses objects while its queue is full. A proxy would continue without storing the object, but a
        // benchmark must store it.
        while (!tryPut(number, length)) {
            LockSupport.parkNanos(REFUSED_WAIT_NANOS);
        }
    }

    /**
     * Stores object {@code number}. Returns true if the store accepted the object. Blocks while the writer is not
     * writable.
     */
    boolean tryPut(long number, long length) {
        ObjectWriter<PlainHead> writer = store.create(key(number));
        writer.head(new PlainHead(number), length);
        int piece = 64 * 1024;
        for (long at = 0; at < length && !writer.isFailed(); at += piece) {
            if (!writer.isWritable()) {
                CompletableFuture<@Nullable Void> writable = new CompletableFuture<>();
                writer.onWritable(Runnable::run, () -> writable.complete(null));
                join(writable);
            }
            int count = (int) Math.min(piece, length - at);
            int from = (int) ((start(number) + at) & (PATTERN_BYTES - 1));
            writer.write(at, source.slice(from, count));
        }
        writer.complete(length);
        return !writer.isFailed();
    }

    /**
     * Returns object {@code number} from RAM or disk, which the caller must release. Returns null if the object or a
     * part of it is missing. Blocks.
     */
    @Nullable
    StoredObject<PlainHead> find(long number) {
        StoreKey key = key(number);
        StoredObject<PlainHead> object = store.get(key);
        if (object == null && store.contains(key)) {
            object = open(key);
        }
        if (object == null) {
            store.countMiss(key);
        }
        if (object != null && !object.isComplete()) {
            object.release();
            return null;
        }
        return object;
    }

    /** Opens the object as {@link CacheStore#open} does, and waits for the reply. Blocks. */
    @Nullable
    StoredObject<PlainHead> open(StoreKey key) {
        CompletableFuture<@Nullable StoredObject<PlainHead>> answer = new CompletableFuture<>();
        store.open(key, Runnable::run, answer::complete);
        return join(answer);
    }

    /** Requests object {@code number} as a client request would, but does not wait for the reply. */
    void touch(long number) {
        store.open(key(number), Runnable::run, object -> {
            if (object != null) {
                object.release();
            }
        });
    }

    /** Reads and verifies the whole body. Returns the number of bytes. Blocks. */
    long verify(StoredObject<PlainHead> object, long number) {
        if (object.head().number() != number) {
            throw new IllegalStateException("object " + number + ": head says " + object.head());
        }
        long at = 0;
        while (at < object.length()) {
            at += verifyChunk(object, number, at);
        }
        return at;
    }

    private int verifyChunk(StoredObject<PlainHead> object, long number, long at) {
        CompletableFuture<ByteBuf> answer = new CompletableFuture<>();
        object.read(at, StoredObject.READ_LENGTH_MAX, Runnable::run, (content, failure) -> {
            if (content == null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(content);
            }
        });
        ByteBuf content = join(answer);
        try {
            int count = content.readableBytes();
            int from = (int) ((start(number) + at) & (PATTERN_BYTES - 1));
            if (!ByteBufUtil.equals(content, content.readerIndex(), source, from, count)) {
                throw new IllegalStateException("object " + number + ": wrong bytes from " + at + " on");
            }
            return count;
        } finally {
            content.release();
        }
    }

    /** Returns the bytes of buffers that the store counts as in use. */
    long buffersInUse() {
        StoreStatistics.Memory memory = store.statistics().memory();
        return memory.residentBytes() + memory.fillingBytes() + memory.readingBytes() + memory.writingBytes();
    }

    /** Returns the result of the future. Blocks. */
    static <T extends @Nullable Object> T join(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Returns the configuration of a store without RAM tier and with one volume in the directory. */
    static StoreConfig.Builder onDisk(Path directory, long bytes) {
        return onDisk(new io.millrace.store.VolumeConfig(directory, bytes));
    }

    /** Returns the configuration of a store without RAM tier and with this volume. */
    static StoreConfig.Builder onDisk(io.millrace.store.VolumeConfig volume) {
        return StoreConfig.builder()
                .ramBytes(0)
                // The benchmarks require that every written object is admitted.
                .diskAdmission(io.millrace.store.DiskAdmission.ALWAYS)
                .volumes(java.util.List.of(volume));
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
