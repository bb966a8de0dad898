package io.millrace.proxy.observe.field;

import io.netty.util.AsciiString;
import io.netty.util.collection.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The letter codes of one exchange, as in the Via field of Traffic Server. Each letter describes one part of the
 * exchange (request and response); a blank means unknown or not applicable. The second line shows the parts of the
 * example {@code uScMsSfWpSeN:t cCMi p sS}:
 *
 * <pre>
 * client  lookup  server  fill  proxy  error  :  tunnel  type, result  i  parent  connection
 * uS      cM      sS      fW    pS     eN     :  t       cCM           i  p       sS
 * </pre>
 *
 * <p>One object is reused for all exchanges of an event loop. It caches the texts, because only few different texts
 * occur in practice. Confined to one event loop.
 */
public final class ViaCodes {
    /** The parts of the string, in order. The comment of each part lists its letters. */
    public enum Part {
        /** I conditional, N no-cache, C cookie, E error, S simple. */
        CLIENT,
        /** A in cache but not acceptable, H on disk, R in RAM, W still being fetched, S stale, M miss. */
        LOOKUP,
        /** E error, N not modified, S served. */
        SERVER,
        /** U updated, W written. */
        FILL,
        /** N not modified, R the origin revalidated, S served from the origin. */
        PROXY,
        /**
         * The failure, N if none: A authorization, C connect, D DNS, F forbidden, H syntax, L loop, R cache read, S
         * server, T timeout.
         */
        ERROR,
        /** The reason why the cache was bypassed: M method, O cache off. */
        TUNNEL,
        /** C if the request uses the cache. */
        TYPE,
        /** H hit, M miss, N conditional hit, I precondition failed, S stale hit, U hit that the client bypassed. */
        RESULT,
        /** S opened, F failed. */
        CONNECTION
    }

    private static final int LETTER_BITS = 5;
    /** Limit of cached texts, which is not reached in practice. Further texts are built for each exchange. */
    private static final int TEXTS_MAX = 1024;

    private final LongObjectHashMap<AsciiString> texts = new LongObjectHashMap<>();
    /** The object that built the cached texts in {@link #texts}. Another object builds other texts. */
    private @Nullable ViaText textsOf;

    private long packed;

    /** Clears the letters of the previous exchange. */
    public ViaCodes begin() {
        packed = 0;
        return this;
    }

    /** Sets one letter, A to Z, or a blank. */
    @SuppressWarnings("EnumOrdinal") // the constants have the order of the string
    public ViaCodes set(Part part, char letter) {
        int shift = part.ordinal() * LETTER_BITS;
        packed &= ~(31L << shift);
        packed |= (letter == ' ' ? 0L : letter - 'A' + 1L) << shift;
        return this;
    }

    /** Returns one letter. */
    @SuppressWarnings("EnumOrdinal") // the constants have the order of the string
    char letter(Part part) {
        int number = (int) (packed >>> (part.ordinal() * LETTER_BITS)) & 31;
        return number == 0 ? ' ' : (char) ('A' + number - 1);
    }

    /**
     * Returns the value of the Via field with the current letters.
     *
     * @param form builds a text that is not cached yet; determines the level of detail
     * @param version version of the received message, as in {@link ViaText#plain}
     * @param secure whether the client's connection uses TLS
     * @param ipv6 whether the client's connection uses IPv6
     */
    public AsciiString text(ViaText form, int version, boolean secure, boolean ipv6) {
        if (textsOf != form) {
            texts.clear();
            textsOf = form;
        }
        long key = packed << 4 | (long) version << 2 | (secure ? 2 : 0) | (ipv6 ? 1 : 0);
        AsciiString text = texts.get(key);
        if (text == null) {
            text = form.make(this, version, secure, ipv6);
            if (texts.size() < TEXTS_MAX) {
                texts.put(key, text);
            }
        }
        return text;
    }

    /** Returns the short form: {@code cMsSfW}. */
    String shortForm() {
        return "c" + letter(Part.LOOKUP) + "s" + letter(Part.SERVER) + "f" + letter(Part.FILL);
    }

    /** Returns the full form: {@code uScMsSfWpSeN:t cCMi p sS}. */
    String fullForm() {
        return "u" + letter(Part.CLIENT) + shortForm() + "p" + letter(Part.PROXY) + "e" + letter(Part.ERROR) + ":t"
                + letter(Part.TUNNEL) + "c" + letter(Part.TYPE) + letter(Part.RESULT) + "i p s"
                + letter(Part.CONNECTION);
    }
}
