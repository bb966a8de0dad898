package io.millrace.proxy.admin.data.copy;

import io.millrace.proxy.admin.copy.CopySource;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

/** Reads stored responses that may be copied to another cache. Thread-safe. */
public final class ObjectExports implements CopySource {
    private final ProxyView proxy;
    private final CopyAudit audit = new CopyAudit("export", System::nanoTime);

    public ObjectExports(ProxyView proxy) {
        this.proxy = proxy;
    }

    @Override
    public CompletionStage<StoredCopy> head(byte[] key, AdminCaller caller) {
        return open(key, (object, reply) -> {
            try {
                StoredCopy copy = copy(key, object);
                proxy.loops().get(0).counters().increment(Counter.COPIES_EXPORTED);
                audit.add(caller, copy.url());
                reply.complete(copy);
            } catch (AdminException e) {
                reply.completeExceptionally(e);
            } finally {
                object.release();
            }
        });
    }

    @Override
    public CompletionStage<byte[]> content(byte[] key, String version, long position) {
        return open(key, (object, reply) -> {
            if (!version.equals(version(object)) || position >= object.length()) {
                object.release();
                reply.completeExceptionally(new AdminException(
                        409, "changed", "another response is stored under the key now, or the position is too high"));
                return;
            }
            int length = (int) Math.min(PART_BYTES_MAX, object.length() - position);
            object.read(position, length, proxy.loops().get(0).loop(), (content, failure) -> {
                object.release();
                if (content == null) {
                    reply.completeExceptionally(new AdminException(
                            409,
                            "not-readable",
                            "the content cannot be read: " + (failure == null ? "" : failure.getMessage())));
                    return;
                }
                byte[] bytes = ByteBufUtil.getBytes(content);
                content.release();
                reply.complete(bytes);
            });
        });
    }

    /** Opens an object on the first event loop; {@code then} owns its reference. */
    private <T> CompletionStage<T> open(byte[] bytes, BiConsumer<StoredObject<StoredHead>, CompletableFuture<T>> then) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        if (bytes.length == 0 || bytes.length > StoreKey.LENGTH_MAX) {
            reply.completeExceptionally(notStored());
            return reply;
        }
        ServingLoop loop = proxy.loops().get(0);
        proxy.store().open(proxy.store().key(bytes), loop.loop(), object -> {
            if (object == null) {
                reply.completeExceptionally(notStored());
            } else {
                then.accept(object, reply);
            }
        });
        return reply;
    }

    private static AdminException notStored() {
        return new AdminException(404, "not-stored", "nothing is stored under this key");
    }

    private StoredCopy copy(byte[] key, StoredObject<StoredHead> object) throws AdminException {
        StoredHead head = object.head();
        String url = urlOf(key);
        if (head.isVaryMarker() || !(TargetUri.parseAbsolute(url) instanceof TargetUri target)) {
            throw notStored();
        }
        if (!object.isComplete() || object.length() < 0 || StoredParts.isPart(head)) {
            throw new AdminException(409, "partial", "only a part of the response is stored");
        }
        boolean isPurged = head.isPurgedSoftly()
                || proxy.shared().invalidator().invalidations().of(target, head, object.length()) != null;
        if (isPurged) {
            throw new AdminException(409, "purged", "a purge covers the response");
        }
        List<String> selecting = head.selectingFields();
        boolean isOfBranch = new String(key, StandardCharsets.ISO_8859_1).contains(RemapRule.BRANCH_KEY);
        if (isOfBranch || selecting == null || head.fields().contains(FieldName.SET_COOKIE)) {
            throw new AdminException(
                    409,
                    "of-one-client",
                    "the response sets a cookie, or is for clients that cookies or a canary split select");
        }
        long nowMillis = proxy.shared().clock().millis();
        return new StoredCopy(
                url,
                head.wireBytes(),
                !head.variance().isNone(),
                selecting,
                object.length(),
                head.requestTimeMillis(),
                head.responseTimeMillis(),
                head.currentAgeSeconds(nowMillis),
                head.lifetimeSeconds(),
                nowMillis,
                head.tags().packed(),
                version(object));
    }

    /** Returns the URL at the beginning of a key; a space or a NUL follows it in some keys. */
    private static String urlOf(byte[] key) {
        int end = 0;
        while (end < key.length && key[end] != 0 && key[end] != ' ') {
            end++;
        }
        return new String(key, 0, end, StandardCharsets.ISO_8859_1);
    }

    private static String version(StoredObject<StoredHead> object) {
        StoredHead head = object.head();
        return Long.toString(head.responseTimeMillis(), Character.MAX_RADIX) + "."
                + Long.toString(head.stamp(), Character.MAX_RADIX) + "." + object.length();
    }
}
