package io.millrace.bench.purge;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredHeadCodec;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.store.CacheStore;
import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.engine.StoreEngine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A store with numbered responses of a few bytes, each with three tags, and the purges of its responses. Response
 * {@code n} has a URL that ends in {@code .css} if {@code n} is a multiple of 100, else in {@code .html}.
 *
 * <p>Thread-safe.
 */
final class TaggedStore implements AutoCloseable {
    private static final int HOSTS = 1000;
    private static final int CSS_EVERY = 100;
    private static final int OTHER_TAGS_WAITING_MAX = 10_000;
    private static final int BODY_BYTES = 8;
    /** Disk space per object. */
    private static final long BYTES_PER_OBJECT = 2200;

    private static final long RAM_BYTES = 64L << 20;
    private static final long REFUSED_WAIT_NANOS = 200_000;
    private static final RequestHead REQUEST = request("http://h0.example/");

    private final long tags;
    private final long nowMillis = System.currentTimeMillis();
    private final CacheStore<StoredHead> store;
    private final Invalidator invalidator;
    private final ByteBuf body =
            Unpooled.unreleasableBuffer(Unpooled.directBuffer(BODY_BYTES).writeZero(BODY_BYTES));

    /**
     * Opens the store.
     *
     * @param directory directory of the volume; null for a store in RAM only
     */
    TaggedStore(@Nullable Path directory, long objects, long tags) throws IOException {
        this.tags = tags;
        StoreConfig.Builder config =
                StoreConfig.builder().diskAdmission(DiskAdmission.ALWAYS).inventoryDelayNanos(0);
        if (directory == null) {
            config.ramBytes(objects * 2000 + RAM_BYTES);
        } else {
            long bytes = objects * BYTES_PER_OBJECT + (256L << 20);
            config.ramBytes(RAM_BYTES).volumes(List.of(new VolumeConfig(directory, bytes)));
        }
        store = StoreEngine.open(config.build(), new StoredHeadCodec());
        invalidator = Invalidator.over(store.journal(), System::currentTimeMillis, () -> TimeUnit.HOURS.toMillis(1));
    }

    CacheStore<StoredHead> store() {
        return store;
    }

    Invalidator invalidator() {
        return invalidator;
    }

    static TargetUri url(long number) {
        String ending = number % CSS_EVERY == 0 ? ".css" : ".html";
        return url("http://h" + number % HOSTS + ".example/o/" + number + ending);
    }

    private static TargetUri url(String text) {
        return (TargetUri) TargetUri.parseAbsolute(text);
    }

    private static RequestHead request(String url) {
        FieldSection.Builder fields = FieldSection.builder().add("Host", url(url).host());
        return RequestHead.of(Method.GET, url(url), 1, fields.build());
    }

    StoreKey key(long number) {
        return store.key(CacheKey.of(url(number)).bytes());
    }

    /** Returns the number of one of the three tags of a response. */
    long tag(long number, int which) {
        return number * (which == 0 ? 1 : which == 1 ? 7919 : 104_729) % tags;
    }

    static byte[] tagName(long tag) {
        return ("product-" + tag).getBytes(StandardCharsets.US_ASCII);
    }

    private StoredHead head(long number, boolean isTagged) {
        FieldSection.Builder fields = FieldSection.builder()
                .add("Cache-Control", "max-age=2592000")
                .add("Content-Type", number % CSS_EVERY == 0 ? "text/css" : "text/html")
                .add("Content-Length", Integer.toString(BODY_BYTES));
        if (isTagged) {
            StringBuilder keys = new StringBuilder();
            for (int which = 0; which < 3; which++) {
                keys.append(which == 0 ? "" : " ").append("product-").append(tag(number, which));
            }
            fields.add("Surrogate-Key", keys.toString());
        }
        ResponseHead response = ResponseHead.of(200, "OK", fields.build());
        long stamp = invalidator.stamp();
        return StoredHead.of(REQUEST, response, nowMillis, nowMillis, CacheSettings.DEFAULTS, stamp, url(number), null);
    }

    /** Stores a response, and tries again while the store refuses it. Blocks. */
    void put(long number, boolean isTagged) {
        StoreKey key = key(number);
        StoredHead head = head(number, isTagged);
        while (true) {
            ObjectWriter<StoredHead> writer = store.create(key);
            writer.head(head, BODY_BYTES);
            writer.write(0, body.slice(0, BODY_BYTES));
            writer.complete(BODY_BYTES);
            if (!writer.isFailed()) {
                return;
            }
            LockSupport.parkNanos(REFUSED_WAIT_NANOS);
        }
    }

    /**
     * Decides about a response in RAM as the proxy does for a request: looks it up, and checks purges and freshness.
     * Returns the purge that outdates it; null for none.
     *
     * @throws IllegalStateException if the response is not in RAM
     */
    @Nullable
    Outdated decide(StoreKey key, TargetUri url) {
        StoredObject<StoredHead> object = store.get(key);
        if (object == null) {
            throw new IllegalStateException(url + " is not in RAM");
        }
        try {
            StoredHead head = object.head();
            Outdated outdated = invalidator.invalidations().of(url, head, object.length());
            Reuse reuse = Reuse.of(REQUEST, head, nowMillis, CacheSettings.DEFAULTS, outdated);
            if (outdated == null && !(reuse instanceof Reuse.Fresh)) {
                throw new IllegalStateException(url + ": " + reuse);
            }
            return outdated;
        } finally {
            object.release();
        }
    }

    boolean isInRam(StoreKey key) {
        StoredObject<StoredHead> object = store.get(key);
        if (object == null) {
            return false;
        }
        object.release();
        return true;
    }

    /** Returns whether a response is stored and no purge outdates it. Reads it from disk if needed. Blocks. */
    boolean isCurrent(long number) {
        StoreKey key = key(number);
        StoredObject<StoredHead> object = store.get(key);
        if (object == null) {
            CompletableFuture<@Nullable StoredObject<StoredHead>> answer = new CompletableFuture<>();
            store.open(key, Runnable::run, answer::complete);
            object = join(answer);
        }
        if (object == null) {
            return false;
        }
        try {
            return invalidator.invalidations().of(url(number), object.head(), object.length()) == null;
        } finally {
            object.release();
        }
    }

    /**
     * Purges a tag on every site, and waits until the purge is durable. Returns the time at which it was durable, by
     * {@link System#nanoTime}. Blocks.
     */
    long purgeTag(byte[] tag, boolean soft) {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        invalidator.invalidate(List.of(InvalidationScope.tag(tag, null)), soft, Runnable::run, (entries, failure) -> {
            if (failure == null) {
                answer.complete(System.nanoTime());
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return join(answer);
    }

    /**
     * Adds hard purges of tags that no response has, and waits until all are durable. At most
     * {@value #OTHER_TAGS_WAITING_MAX} of them wait at a time: the history of purges refuses more than
     * {@link PurgeHistory#WAITING_MAX}. Blocks.
     */
    void purgeOtherTags(long count) {
        for (long from = 0; from < count; from += OTHER_TAGS_WAITING_MAX) {
            long end = Math.min(count, from + OTHER_TAGS_WAITING_MAX);
            List<CompletableFuture<Boolean>> answers = new ArrayList<>();
            for (long number = from; number < end; number++) {
                answers.add(purgeOtherTag(number));
            }
            answers.forEach(TaggedStore::join);
        }
    }

    private CompletableFuture<Boolean> purgeOtherTag(long number) {
        byte[] tag = ("other-" + number).getBytes(StandardCharsets.US_ASCII);
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        invalidator.invalidate(
                List.of(InvalidationScope.tag(tag, "other.example")), false, Runnable::run, (entries, failure) -> {
                    if (failure == null) {
                        answer.complete(true);
                    } else {
                        answer.completeExceptionally(failure);
                    }
                });
        return answer;
    }

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

    @Override
    public void close() throws IOException {
        store.close();
    }
}
