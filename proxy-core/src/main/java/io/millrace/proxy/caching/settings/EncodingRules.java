package io.millrace.proxy.caching.settings;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of compression: types, sizes and codings of encoded responses. Immutable.
 *
 * @param codings the codings, the preferred one first; empty if nothing is encoded
 * @param types media types in lower case; a type that ends with {@code /*} includes all its subtypes
 * @param bytesMin smallest content that is encoded
 * @param bytesMax largest content that is encoded, if its length is known
 * @param levels the level of each coding, also of those with a dictionary
 * @param dictionaries compression with dictionaries
 */
public record EncodingRules(
        List<ContentCoding> codings,
        List<String> types,
        long bytesMin,
        long bytesMax,
        Map<ContentCoding, Integer> levels,
        DictionaryRules dictionaries) {
    /** No response is encoded. */
    public static final EncodingRules NONE = new EncodingRules(List.of(), List.of(), 0, 0, Map.of());

    /** The normal form of Accept-Encoding for clients that get content without a coding. */
    public static final String IDENTITY = "identity";

    private static final String WILDCARD = "/*";
    private static final int WEIGHT_MAX = 1000;
    private static final int ABSENT = -1;

    /** Copies the lists. */
    public EncodingRules {
        codings = List.copyOf(codings);
        types = List.copyOf(types);
        levels = Map.copyOf(levels);
    }

    /** Creates rules without dictionaries. */
    public EncodingRules(
            List<ContentCoding> codings,
            List<String> types,
            long bytesMin,
            long bytesMax,
            Map<ContentCoding, Integer> levels) {
        this(codings, types, bytesMin, bytesMax, levels, DictionaryRules.NONE);
    }

    /** Returns true if no response is encoded. */
    public boolean isOff() {
        return codings.isEmpty();
    }

    /** Returns the level for a coding of these rules. */
    public int level(ContentCoding coding) {
        Integer level = levels.get(coding);
        if (level == null) {
            throw new IllegalArgumentException(coding + " is not one of the codings");
        }
        return level;
    }

    /**
     * Returns the normal form of a client's Accept-Encoding, for variant keys and requests to origins. It is the name
     * of the coding that {@link #choose} returns, or {@link #IDENTITY}.
     */
    public String normalForm(FieldSection requestFields) {
        ContentCoding chosen = choose(requestFields);
        return chosen == null ? IDENTITY : chosen.token();
    }

    /** Returns all results of {@link #normalForm} except codings with a dictionary. {@link #IDENTITY} is the first. */
    public List<String> normalForms() {
        List<String> forms = new ArrayList<>(codings.size() + 1);
        forms.add(IDENTITY);
        for (ContentCoding coding : codings) {
            forms.add(coding.token());
        }
        return forms;
    }

    /**
     * Returns the coding for a client: the acceptable one with the highest weight (RFC 9110 s12.5.3), the first of
     * {@link #codings} if there are several. Returns null for none: without Accept-Encoding, if {@code identity} has a
     * higher weight, or if the request has {@code no-transform} (RFC 9111 s5.2.1.6). A coding with a dictionary
     * precedes others of its weight. It is chosen only if the request has Available-Dictionary. Before this call,
     * {@code DictionaryChoice} removes this field if the dictionary cannot be used.
     */
    public @Nullable ContentCoding choose(FieldSection requestFields) {
        if (!requestFields.contains(FieldName.ACCEPT_ENCODING)
                || requestFields.hasToken(FieldName.CACHE_CONTROL, "no-transform")) {
            return null;
        }
        int any = ABSENT;
        int identity = ABSENT;
        int brotli = ABSENT;
        int zstd = ABSENT;
        int gzip = ABSENT;
        int dictionaryBrotli = ABSENT;
        int dictionaryZstd = ABSENT;
        ListCursor members = ListCursor.over(requestFields, FieldName.ACCEPT_ENCODING);
        while (members.next()) {
            byte[] b = members.bytes();
            int start = members.start();
            int end = nameEnd(b, start, members.end());
            int weight = weight(b, end, members.end());
            if (isNamed(b, start, end, "br")) {
                brotli = weight;
            } else if (isNamed(b, start, end, "zstd")) {
                zstd = weight;
            } else if (isNamed(b, start, end, "gzip") || isNamed(b, start, end, "x-gzip")) {
                gzip = weight;
            } else if (isNamed(b, start, end, "dcb")) {
                dictionaryBrotli = weight;
            } else if (isNamed(b, start, end, "dcz")) {
                dictionaryZstd = weight;
            } else if (isNamed(b, start, end, IDENTITY)) {
                identity = weight;
            } else if (isNamed(b, start, end, "*")) {
                any = weight;
            }
        }
        ContentCoding best = null;
        // A coding also wins against identity with the same weight.
        int bestWeight = Math.max(0, identity - 1);
        if (!dictionaries.isOff() && requestFields.contains(DictionaryRules.AVAILABLE_DICTIONARY)) {
            for (ContentCoding coding : dictionaries.codings()) {
                // A member `*` does not stand for these codings, which clients without dictionaries cannot decode.
                int weight = coding == ContentCoding.DICTIONARY_BROTLI ? dictionaryBrotli : dictionaryZstd;
                if (weight > bestWeight) {
                    best = coding;
                    bestWeight = weight;
                }
            }
        }
        for (int i = 0; i < codings.size(); i++) {
            ContentCoding coding = codings.get(i);
            int named =
                    switch (coding) {
                        case BROTLI -> brotli;
                        case ZSTD -> zstd;
                        case GZIP -> gzip;
                        case DICTIONARY_BROTLI, DICTIONARY_ZSTD -> 0;
                    };
            int weight = named == ABSENT ? any : named;
            if (weight > bestWeight) {
                best = coding;
                bestWeight = weight;
            }
        }
        return best;
    }

    private static boolean isNamed(byte[] b, int start, int end, String token) {
        return FieldLexer.equalsIgnoreCase(b, start, end, token);
    }

    private static int nameEnd(byte[] b, int start, int end) {
        int at = start;
        while (at < end && b[at] != ';' && !FieldLexer.isSpace(b[at])) {
            at++;
        }
        return at;
    }

    /** Returns the weight that follows a member's name; 0, so that the coding is not used, if it is malformed. */
    private static int weight(byte[] b, int from, int end) {
        int at = skipSpace(b, from, end);
        if (at == end) {
            return WEIGHT_MAX;
        }
        at = b[at] == ';' ? skipSpace(b, at + 1, end) : end;
        boolean isWeight = end - at >= 3 && (b[at] | 0x20) == 'q' && b[at + 1] == '=';
        if (!isWeight || end - at > 7 || b[at + 2] < '0' || b[at + 2] > '1') {
            return 0;
        }
        int weight = (b[at + 2] - '0') * WEIGHT_MAX;
        int unit = WEIGHT_MAX / 10;
        for (int i = at + 3; i < end; i++) {
            if (i == at + 3 ? b[i] != '.' : b[i] < '0' || b[i] > '9') {
                return 0;
            }
            if (i > at + 3) {
                weight += (b[i] - '0') * unit;
                unit /= 10;
            }
        }
        return weight > WEIGHT_MAX ? 0 : weight;
    }

    private static int skipSpace(byte[] b, int from, int end) {
        int at = from;
        while (at < end && FieldLexer.isSpace(b[at])) {
            at++;
        }
        return at;
    }

    /** Returns true if the rules include this media type, given without parameters. */
    public boolean includesType(byte[] b, int from, int to) {
        for (int i = 0; i < types.size(); i++) {
            String type = types.get(i);
            if (type.endsWith(WILDCARD)) {
                int length = type.length() - 1;
                String prefix = type.substring(0, length);
                if (to - from > length && FieldLexer.equalsIgnoreCase(b, from, from + length, prefix)) {
                    return true;
                }
            } else if (to - from == type.length() && FieldLexer.equalsIgnoreCase(b, from, to, type)) {
                return true;
            }
        }
        return false;
    }
}
