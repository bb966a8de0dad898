package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A response of which only a part is stored is fetched as if nothing were. */
class PartialResponseTest {
    private static final int LENGTH = 3_000_000;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private static StoredObject<StoredHead> open(CacheStore<StoredHead> store, StoreKey key) throws Exception {
        CompletableFuture<StoredObject<StoredHead>> answer = new CompletableFuture<>();
        store.open(key, Runnable::run, answer::complete);
        return answer.get(30, TimeUnit.SECONDS);
    }

    @Test
    void isAMissAndBecomesWhole() throws Exception {
        byte[] body = new byte[LENGTH];
        new java.util.Random(1).nextBytes(body);
        proxy.start(
                request -> request.ok("Cache-Control: max-age=1000\r\nETag: \"one\"\r\n", body),
                config -> config.storage(directory.resolve("volume"), 64L << 20));
        assertTrue(java.util.Arrays.equals(body, proxy.get("/a").content()));
        CacheStore<StoredHead> store = proxy.proxy().store();
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://test.example/a");
        StoreKey key = store.key(CacheKey.of(url).bytes());
        StoredObject<StoredHead> whole = open(store, key);
        assertTrue(whole.isComplete());
        ObjectWriter<StoredHead> writer = store.create(key);
        writer.head(whole.head(), LENGTH);
        whole.release();
        writer.write(0, Unpooled.wrappedBuffer(body, 0, 2_500_000));
        writer.keep();
        StoredObject<StoredHead> part = open(store, key);
        assertFalse(part.isComplete());
        part.release();
        assertTrue(java.util.Arrays.equals(body, proxy.get("/a").content()));
        assertEquals(2, proxy.origin().requests());
        assertTrue(java.util.Arrays.equals(body, proxy.get("/a").content()));
        assertEquals(2, proxy.origin().requests());
    }
}
