package io.millrace.proxy.dictionary;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.encode.ContentDecoders;
import io.millrace.proxy.encode.EncoderThreads;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.PurgePoint;
import io.millrace.proxy.purge.Purger;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads stored responses with Use-As-Dictionary from the cache, decodes them on the threads for encoding, and adds them to
 * the dictionaries. A response is read when it was stored or validated. It is also read when a full exchange serves it and
 * its dictionary is unknown, as after a restart.
 *
 * <p>Confined to one event loop, except for the decoding.
 */
public final class DictionaryReader {
    private static final Logger log = LoggerFactory.getLogger(DictionaryReader.class);

    /** Pieces that the content has before Netty joins them. */
    private static final int PIECES_MAX = 128;

    private final EventExecutor loop;
    private final CacheStore<StoredHead> store;
    private final EncoderThreads threads;
    private final Purger purger;
    private final Dictionaries dictionaries;
    private final LongSupplier clockMillis;

    /** @param clockMillis the wall clock, in epoch milliseconds */
    public DictionaryReader(
            EventExecutor loop,
            CacheStore<StoredHead> store,
            EncoderThreads threads,
            Purger purger,
            Dictionaries dictionaries,
            LongSupplier clockMillis) {
        this.loop = loop;
        this.store = store;
        this.threads = threads;
        this.purger = purger;
        this.dictionaries = dictionaries;
        this.clockMillis = clockMillis;
    }

    /**
     * A stored response.
     *
     * @param url the URL as the client sees it
     * @param keyUrl the URL of the cache key
     * @param primaryKey the bytes of the primary key, borrowed
     * @param key the key under which the response is stored
     * @param head the head of the response
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Candidate(TargetUri url, TargetUri keyUrl, byte[] primaryKey, StoreKey key, StoredHead head) {}

    /** Returns true if a response with this head may be a dictionary. */
    public static boolean mayBe(StoredHead head, DictionaryRules rules) {
        return head.status() == 200
                && !head.isVaryMarker()
                && head.contentLength() <= rules.bytesMax()
                && !head.isNoCache()
                && head.fields().contains(DictionaryRules.USE_AS_DICTIONARY);
    }

    /**
     * Reads a response that was stored or validated, if it is a dictionary. If it is none, its URL has no dictionary any
     * more.
     */
    public void stored(Candidate response, DictionaryRules rules) {
        DictionaryTerms terms = mayBe(response.head(), rules) && DictionaryChoice.isSecureContext(response.url())
                ? DictionaryTerms.of(response.head().fields(), response.url())
                : null;
        if (terms == null) {
            dictionaries.forget(response.url());
        } else {
            open(new Reading(response, rules, terms));
        }
    }

    /** Returns true if {@link #served} would read the response of a URL. */
    public boolean isWanted(TargetUri url, long nowMillis) {
        return DictionaryChoice.isSecureContext(url) && dictionaries.isWanted(url, nowMillis);
    }

    /** Reads a response that is served, if it is a dictionary that is not known. */
    public void served(Candidate response, DictionaryRules rules) {
        if (DictionaryChoice.isSecureContext(response.url())
                && dictionaries.beginRead(response.url(), clockMillis.getAsLong())) {
            DictionaryTerms terms = DictionaryTerms.of(response.head().fields(), response.url());
            if (terms != null) {
                open(new Reading(response, rules, terms));
            }
        }
    }

    private void open(Reading reading) {
        StoreKey key = reading.response.key();
        StoredObject<StoredHead> inRam = store.get(key);
        if (inRam != null) {
            opened(reading, inRam);
        } else if (store.contains(key)) {
            store.open(key, loop, object -> {
                if (object != null) {
                    opened(reading, object);
                }
            });
        }
    }

    private void opened(Reading reading, StoredObject<StoredHead> object) {
        StoredHead head = object.head();
        boolean isUsable = mayBe(head, reading.rules)
                && object.isComplete()
                && object.length() <= reading.rules.bytesMax()
                && head.isFresh(clockMillis.getAsLong());
        if (!isUsable || !threads.begin()) {
            object.release();
            return;
        }
        readOn(reading, object, threads.allocator().compositeDirectBuffer(PIECES_MAX));
    }

    private void readOn(Reading reading, StoredObject<StoredHead> object, CompositeByteBuf content) {
        int left = (int) (object.length() - content.readableBytes());
        if (left == 0) {
            StoredHead head = object.head();
            object.release();
            decode(reading, head, content);
            return;
        }
        int length = Math.min(left, StoredObject.READ_LENGTH_MAX);
        object.read(content.readableBytes(), length, loop, (piece, failure) -> {
            if (piece == null) {
                object.release();
                drop(content);
            } else {
                content.addComponent(true, piece);
                readOn(reading, object, content);
            }
        });
    }

    /** Releases the content, and the permit to decode it. Any thread. */
    private void drop(ByteBuf content) {
        content.release();
        threads.ended();
    }

    private void decode(Reading reading, StoredHead head, ByteBuf content) {
        long nowMillis = clockMillis.getAsLong();
        long freshUntilMillis = nowMillis + head.ttlSeconds(nowMillis) * 1000;
        try {
            threads.decode(() -> {
                try {
                    reading.add(head, freshUntilMillis, reading.decoded(head, content));
                } catch (IOException | RuntimeException e) {
                    log.debug("the dictionary {} cannot be decoded", reading.response.url(), e);
                } finally {
                    drop(content);
                }
            });
        } catch (RejectedExecutionException e) {
            // The proxy is closing.
            drop(content);
        }
    }

    /** One response that is being read. */
    private final class Reading {
        private final Candidate response;
        private final DictionaryRules rules;
        private final DictionaryTerms terms;
        private final int keyHash;
        private final PurgePoint since;

        Reading(Candidate response, DictionaryRules rules, DictionaryTerms terms) {
            this.response = response;
            this.rules = rules;
            this.terms = terms;
            this.keyHash = Purger.keyHash(response.primaryKey());
            this.since = purger.point(keyHash);
        }

        /** Returns the content without its coding; null if that is unknown or the content is too long. */
        private @Nullable ByteBuf decoded(StoredHead head, ByteBuf content) throws IOException {
            if (EncodedHeads.isIn(head.fields(), EncodingRules.IDENTITY)) {
                return ContentDecoders.decode(null, content, rules.bytesMax());
            }
            String name = head.fields().joined(FieldName.CONTENT_ENCODING);
            ContentCoding coding = name == null ? null : ContentCoding.ofToken(name);
            if (coding == null) {
                return null;
            }
            if (!coding.usesDictionary()) {
                return ContentDecoders.decode(coding, content, rules.bytesMax());
            }
            int header = CompressionDictionary.headerBytes(coding);
            String hash = content.readableBytes() < header
                    ? null
                    : CompressionDictionary.hashIn(
                            coding, ByteBufUtil.getBytes(content, content.readerIndex(), header));
            StoredDictionary used = hash == null ? null : dictionaries.find(response.url(), hash);
            return used == null ? null : ContentDecoders.decode(coding, used.content(), content, rules.bytesMax());
        }

        private void add(StoredHead head, long freshUntilMillis, @Nullable ByteBuf content) {
            if (content == null) {
                return;
            }
            byte[] bytes = ByteBufUtil.getBytes(content);
            content.release();
            CompressionDictionary dictionary = CompressionDictionary.of(bytes);
            if (dictionary != null) {
                dictionaries.add(
                        new StoredDictionary(
                                response.url(),
                                terms,
                                dictionary,
                                freshUntilMillis,
                                response.keyUrl(),
                                head,
                                keyHash,
                                since),
                        rules.memoryBytesMax());
            }
        }
    }
}
