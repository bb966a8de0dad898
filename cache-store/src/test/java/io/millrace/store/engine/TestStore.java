package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FileIo;
import io.millrace.store.tool.CheckReport;
import io.millrace.store.tool.StoreCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A store under test, with calls that wait for their results. Closing it checks that every buffer was released and that
 * every volume is sound.
 */
public final class TestStore implements AutoCloseable {
    private static final long WAIT_SECONDS = 30;

    final CacheStore<TextHead> store;
    private final StoreConfig config;
    private final FileIo io;
    private boolean checked = true;
    private CheckReport.Kind tolerated = CheckReport.Kind.STALE;

    TestStore(StoreConfig.Builder builder, FileIo io) {
        this.io = io;
        this.config = builder.build();
        try {
            store = new StoreEngine<>(config, new TextHead.Codec(), io);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    StoreConfig config() {
        return config;
    }

    /** Omits the check at the close, because the volumes are damaged. */
    TestStore withoutCheck() {
        checked = false;
        return this;
    }

    /** Allows unreadable records in the check, as after a power failure; wrong content still fails it. */
    TestStore toleratingDamage() {
        tolerated = CheckReport.Kind.DAMAGED;
        return this;
    }

    StoreKey key(String text) {
        return store.key(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public static byte[] body(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Stores an object with its body in pieces; returns true if the writer did not fail. */
    boolean put(String key, String head, byte[] body) {
        ObjectWriter<TextHead> writer = store.create(key(key));
        writer.head(TextHead.of(head), body.length);
        int piece = 3000;
        for (int from = 0; from < body.length; from += piece) {
            awaitWritable(writer);
            writer.write(from, Unpooled.wrappedBuffer(body, from, Math.min(piece, body.length - from)));
        }
        writer.complete(body.length);
        return !writer.isFailed();
    }

    static void awaitWritable(ObjectWriter<?> writer) {
        if (!writer.isWritable()) {
            CompletableFuture<Void> writable = new CompletableFuture<>();
            writer.onWritable(Runnable::run, () -> writable.complete(null));
            await(writable);
        }
    }

    public static void awaitLatch(CountDownLatch latch) {
        try {
            assertTrue(latch.await(WAIT_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the object from any tier, which the caller must release; null if it is absent. */
    StoredObject<TextHead> find(String key) {
        StoreKey storeKey = key(key);
        StoredObject<TextHead> object = store.get(storeKey);
        return object != null ? object : open(storeKey);
    }

    StoredObject<TextHead> open(StoreKey key) {
        CompletableFuture<StoredObject<TextHead>> answer = new CompletableFuture<>();
        store.open(key, Runnable::run, answer::complete);
        return await(answer);
    }

    /** Returns head and body of the key's object as text; null if it is absent. */
    String head(String key) {
        StoredObject<TextHead> object = find(key);
        if (object == null) {
            return null;
        }
        try {
            return object.head().text();
        } finally {
            object.release();
        }
    }

    /** Returns the body of the key's object; null if it is absent. */
    byte[] read(String key) {
        StoredObject<TextHead> object = find(key);
        if (object == null) {
            return null;
        }
        try {
            return readAll(object);
        } finally {
            object.release();
        }
    }

    static byte[] readAll(StoredObject<?> object) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            while (out.size() < object.length()) {
                out.writeBytes(readSome(object, out.size(), Integer.MAX_VALUE));
            }
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] readSome(StoredObject<?> object, long position, int length) throws IOException {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        object.read(position, length, Runnable::run, (content, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(bytes(content));
            }
        });
        try {
            return answer.get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] bytes(ByteBuf content) {
        try {
            return ByteBufUtil.getBytes(content);
        } finally {
            content.release();
        }
    }

    /** Removes the key; returns true if it was present. */
    boolean remove(String key) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        store.remove(key(key), Runnable::run, (present, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(present);
            }
        });
        return await(answer);
    }

    void update(String key, String head) {
        StoredObject<TextHead> object = find(key);
        store.update(object, TextHead.of(head));
        object.release();
    }

    void sync() {
        try {
            store.sync();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the number of bytes in buffers in use. */
    long buffersInUse() {
        StoreStatistics.Memory memory = store.statistics().memory();
        return memory.residentBytes() + memory.fillingBytes() + memory.readingBytes() + memory.writingBytes();
    }

    private void assertNoneInUse() {
        assertEquals(0, buffersInUse(), "direct bytes still in use");
        assertEquals(0, store.statistics().memory().idleBytes(), "regions not given back");
    }

    /** Ends the threads of a store whose file system no longer works. */
    void abandon() {
        try {
            store.close();
        } catch (IOException e) {
            // A dead process does not answer.
        }
        assertNoneInUse();
    }

    @Override
    public void close() {
        try {
            store.close();
            assertNoneInUse();
            if (checked) {
                check();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Checks the closed volumes. */
    void check() throws IOException {
        for (VolumeConfig volume : config.volumes()) {
            Path index = volume.indexPath();
            CheckReport report = StoreCheck.check(io, index == null ? volume.path() : index);
            boolean fine = report.count(CheckReport.Kind.WRONG) == 0
                    && (tolerated == CheckReport.Kind.DAMAGED || report.isSound());
            assertTrue(fine, report::toString);
        }
    }
}
