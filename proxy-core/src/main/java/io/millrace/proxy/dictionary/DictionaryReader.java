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
import io.millrace.proxy.observe.FaultLog;
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
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Reads stored responses with Use-As-Dictionary from the cache, decodes them on the encoder threads, and adds them to
 * the dictionaries. A response is read after it was stored. After a restart, for example, the dictionary of a stored
 * response is not in memory. Then the response is also read after a validation, or when it is served outside the fast
 * lane (a short path for plain RAM hits).
 *
 * <p>Confined to one event loop, except for the decoding.
 */
public final class DictionaryReader {
    /** Limits log lines: an origin can send any number of responses whose content is not valid in its coding. */
    private static final FaultLog FAULTS = new FaultLog(
            LoggerFactory.getLogger(DictionaryReader.class), TimeUnit.MINUTES.toNanos(1), System::nanoTime);

    /** Limit of the components of a content buffer; beyond it Netty merges them. */
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

    /**
     * Returns true if a response with this head may be a dictionary. Returns false if the response depends on
     * credentials or cookies. Otherwise a client could guess the hash of such content, and would learn that the content
     * exists.
     */
    public static boolean mayBeDictionary(StoredHead head, DictionaryRules rules) {
        return head.status() == 200
                && !head.isVaryMarker()
                && head.contentLength() <= rules.bytesMax()
                && !head.isNoCache()
                && head.fields().contains(DictionaryRules.USE_AS_DICTIONARY)
                && !head.hasSetCookie()
                && !head.variance().isByCredentials();
    }

    /** Reads a response that was stored, if it is a dictionary. Otherwise forgets the dictionary of its URL. */
    public void stored(Candidate response, DictionaryRules rules) {
        if (mayBeDictionary(response.head(), rules) && DictionaryChoice.isSecureContext(response.url())) {
            open(new Reading(response, rules));
        } else {
            dictionaries.forget(response.url());
        }
    }

    /**
     * Updates the Use-As-Dictionary parameters and the lifetime of a dictionary from a validated response. Reads the
     * response only if the content of the dictionary is not known, or if a purge may cover it.
     *
     * @param before head of the response before the validation
     */
    public void validated(Candidate response, StoredHead before, DictionaryRules rules) {
        StoredDictionary known = dictionaries.of(response.url());
        if (known == null
                || !known.isReadFrom(response.key(), before)
                || purger.isPurgedSince(known.keyHash(), known.readSince())
                || !mayBeDictionary(response.head(), rules)) {
            stored(response, rules);
            return;
        }
        DictionaryTerms terms = DictionaryTerms.of(response.head().fields(), response.url());
        if (terms == null) {
            dictionaries.forget(known);
        } else {
            dictionaries.replace(known, known.validated(terms, response.head(), freshUntilMillis(response.head())));
        }
    }

    /** Forgets the dictionary of a URL whose new response only some clients may get. */
    public void forget(TargetUri url) {
        dictionaries.forget(url);
    }

    /** Returns true if {@link #served} would read the response of a URL. */
    public boolean isWanted(TargetUri url, long nowMillis) {
        return DictionaryChoice.isSecureContext(url) && dictionaries.isWanted(url, nowMillis);
    }

    /** Reads a response that is served, unless its dictionary is known or the response was read shortly before. */
    public void served(Candidate response, DictionaryRules rules) {
        if (DictionaryChoice.isSecureContext(response.url())
                && dictionaries.beginRead(response.url(), clockMillis.getAsLong())) {
            open(new Reading(response, rules));
        }
    }

    private long freshUntilMillis(StoredHead head) {
        long nowMillis = clockMillis.getAsLong();
        return nowMillis + head.ttlSeconds(nowMillis) * 1000;
    }

    /** Opens the stored response in RAM or on disk. */
    private void open(Reading reading) {
        StoreKey key = reading.response.key();
        StoredObject<StoredHead> inRam = store.get(key);
        if (inRam != null) {
            opened(reading, inRam);
        } else if (store.contains(key)) {
            store.open(key, loop, object -> {
                if (object == null) {
                    reading.fail();
                } else {
                    opened(reading, object);
                }
            });
        } else {
            reading.fail();
        }
    }

    /** Reads the content if the response may be a dictionary. Takes over the reference. */
    private void opened(Reading reading, StoredObject<StoredHead> object) {
        StoredHead head = object.head();
        DictionaryTerms terms = mayBeDictionary(head, reading.rules)
                        && object.isComplete()
                        && object.length() <= reading.rules.bytesMax()
                        && head.isFresh(clockMillis.getAsLong())
                ? DictionaryTerms.of(head.fields(), reading.response.url())
                : null;
        if (terms == null || !reading.begin(object.length())) {
            object.release();
            reading.fail();
            return;
        }
        readOn(reading, object, terms, threads.allocator().compositeDirectBuffer(PIECES_MAX));
    }

    /** Reads the rest of the content piece by piece, then decodes it. */
    private void readOn(
            Reading reading, StoredObject<StoredHead> object, DictionaryTerms terms, CompositeByteBuf content) {
        int left = (int) (object.length() - content.readableBytes());
        if (left == 0) {
            StoredHead head = object.head();
            object.release();
            decode(reading, head, terms, content);
            return;
        }
        int length = Math.min(left, StoredObject.READ_LENGTH_MAX);
        object.read(content.readableBytes(), length, loop, (piece, failure) -> {
            if (piece == null) {
                object.release();
                reading.fail();
                reading.end(content);
            } else {
                content.addComponent(true, piece);
                readOn(reading, object, terms, content);
            }
        });
    }

    /** Decodes the content on an encoder thread, and adds the dictionary. */
    private void decode(Reading reading, StoredHead head, DictionaryTerms terms, ByteBuf content) {
        long freshUntilMillis = freshUntilMillis(head);
        try {
            threads.decode(() -> {
                try {
                    reading.add(head, terms, freshUntilMillis, content);
                } catch (IOException | RuntimeException | Error e) {
                    FAULTS.report(
                            "a dictionary cannot be decoded",
                            reading.response.url().asString(),
                            e);
                    reading.fail();
                } finally {
                    reading.end(content);
                }
            });
        } catch (RejectedExecutionException e) {
            // The proxy is closing.
            reading.end(content);
        }
    }

    /** One response that is being read. Confined to the event loop, then to the thread that decodes. */
    private final class Reading {
        private final Candidate response;
        private final DictionaryRules rules;
        private final int keyHash;
        /** State of the purger before the read. */
        private final PurgePoint since;
        /** Result of {@link Dictionaries#generation} before the read. */
        private final int generation;
        /** The dictionary that this response replaces; null for none. */
        private final @Nullable StoredDictionary replaced;

        private int permits;

        Reading(Candidate response, DictionaryRules rules) {
            this.response = response;
            this.rules = rules;
            this.keyHash = Purger.keyHash(response.primaryKey());
            this.since = purger.point(keyHash);
            this.generation = dictionaries.generation();
            this.replaced = dictionaries.of(response.url());
        }

        /**
         * Takes permits for the memory of the stored content, the decoded content and its copy in the dictionary.
         * Returns false if there are too few permits. If the result is true, the caller must later call {@link #end}.
         */
        private boolean begin(long length) {
            permits = EncoderThreads.permitsOf(length + 2L * rules.bytesMax());
            return threads.takePermits(permits);
        }

        /** Forgets the dictionary that this response has replaced, since this response does not become one. */
        private void fail() {
            if (replaced != null) {
                dictionaries.forget(replaced);
            }
        }

        /** Releases the stored content, and the permits. Any thread. */
        private void end(ByteBuf content) {
            content.release();
            threads.returnPermits(permits);
        }

        /** Returns the decoded content; null if the coding is not known, or if the content is too long. */
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
            CompressionDictionary used = hash == null ? null : dictionaries.content(response.url(), hash);
            return used == null ? null : ContentDecoders.decode(coding, used, content, rules.bytesMax());
        }

        private void add(StoredHead head, DictionaryTerms terms, long freshUntilMillis, ByteBuf stored)
                throws IOException {
            ByteBuf content = decoded(head, stored);
            CompressionDictionary dictionary = null;
            if (content != null) {
                try {
                    dictionary = CompressionDictionary.of(ByteBufUtil.getBytes(content));
                } finally {
                    content.release();
                }
            }
            if (dictionary == null) {
                fail();
                return;
            }
            dictionaries.add(
                    new StoredDictionary(
                            response.url(),
                            terms,
                            dictionary,
                            freshUntilMillis,
                            response.keyUrl(),
                            response.key(),
                            head,
                            keyHash,
                            since),
                    rules.memoryBytesMax(),
                    generation);
        }
    }
}
