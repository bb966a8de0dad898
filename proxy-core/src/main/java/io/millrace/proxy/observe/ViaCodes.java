package io.millrace.proxy.observe;

import io.netty.util.AsciiString;
import io.netty.util.collection.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The letters of one exchange in Traffic Server's Via string, and the texts made of them. Each letter answers a question; a blank
 * means unknown or does not apply.
 *
 * <pre>
 *   u client    c lookup   s server   f fill   p proxy   e error  :  t tunnel  c type, result  i -  p parent  s connection
 *   uS          cM         sS         fW       pS        eN       :  t&#32;         cCM             i&#32;   p&#32;        sS
 * </pre>
 *
 * Reused from exchange to exchange; the few texts that a site's exchanges really have are kept, so that a repeated one costs a look
 * into a table. Confined to one event loop.
 */
public final class ViaCodes {
    /** The parts of the string, in its order. */
    public enum Part {
        /** I conditional, N no-cache, C cookie, E error, S simple. */
        CLIENT,
        /** A in cache but not acceptable, H hit on disk, R hit in RAM, W hit on what is being fetched, S stale, M miss. */
        LOOKUP,
        /** E error, N not modified, S served. */
        SERVER,
        /** U updated, W written. */
        FILL,
        /** N not modified, R the origin revalidated, S served from the origin. */
        PROXY,
        /** A authorisation, C connect, D DNS, F forbidden, H syntax, L loop, N none, R cache read, S server, T timeout. */
        ERROR,
        /** Why the cache was passed by: M method, O cache off. */
        TUNNEL,
        /** C when there is a cache for the request. */
        TYPE,
        /** H hit, M miss, N conditional hit, I precondition failed, S hit but stale, U hit but the client wants the origin. */
        RESULT,
        /** S opened, F failed. */
        CONNECTION
    }

    private static final int LETTER_BITS = 5;
    /** More different texts than all outcomes together have in practice; beyond it they are rebuilt each time. */
    private static final int TEXTS_MAX = 1024;

    private final LongObjectHashMap<AsciiString> texts = new LongObjectHashMap<>();
    private @Nullable ViaText textsOf;
    private long packed;

    /** Forgets the letters of the exchange before. */
    public ViaCodes begin() {
        packed = 0;
        return this;
    }

    /** Sets one letter, A to Z, or a blank. */
    @SuppressWarnings("EnumOrdinal") // the order is the string's
    public ViaCodes set(Part part, char letter) {
        int shift = part.ordinal() * LETTER_BITS;
        packed &= ~(31L << shift);
        packed |= (letter == ' ' ? 0L : letter - 'A' + 1L) << shift;
        return this;
    }

    /** One letter. */
    @SuppressWarnings("EnumOrdinal") // the order is the string's
    char letter(Part part) {
        int number = (int) (packed >>> (part.ordinal() * LETTER_BITS)) & 31;
        return number == 0 ? ' ' : (char) ('A' + number - 1);
    }

    /**
     * The field's value with these letters.
     *
     * @param version of the message that was received, as {@link ViaText#plain} has it
     * @param secure whether the client's connection is protected by TLS
     * @param ipv6 whether it is one of IPv6
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

    /** The short form: {@code cMsSfW}. */
    String shortForm() {
        return "c" + letter(Part.LOOKUP) + "s" + letter(Part.SERVER) + "f" + letter(Part.FILL);
    }

    /** The full form: {@code uScMsSfWpSeN:t cCMi p sS}. */
    String fullForm() {
        return "u" + letter(Part.CLIENT) + shortForm() + "p" + letter(Part.PROXY) + "e" + letter(Part.ERROR) + ":t"
                + letter(Part.TUNNEL) + "c" + letter(Part.TYPE) + letter(Part.RESULT) + "i p s"
                + letter(Part.CONNECTION);
    }
}
