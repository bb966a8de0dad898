package io.millrace.proxy.caching.settings;

import io.millrace.proxy.http.FieldName;
import java.util.List;

/**
 * The settings of compression with dictionaries (RFC 9842). A dictionary is a stored response that the origin marks
 * with Use-As-Dictionary. Immutable.
 *
 * @param codings the codings, the preferred one first; empty if dictionaries are not used
 * @param bytesMax largest response that becomes a dictionary, in bytes without a coding
 * @param memoryBytesMax limit of the bytes of all dictionaries of the proxy
 */
public record DictionaryRules(List<ContentCoding> codings, int bytesMax, long memoryBytesMax) {
    /** No dictionary is used. */
    public static final DictionaryRules NONE = new DictionaryRules(List.of(), 0, 0);

    /** The field of a response that may be used as a dictionary. */
    public static final FieldName USE_AS_DICTIONARY = FieldName.of("Use-As-Dictionary");

    /** The field of a request with the hash of the client's dictionary. */
    public static final FieldName AVAILABLE_DICTIONARY = FieldName.of("Available-Dictionary");

    /** Copies the list. */
    public DictionaryRules {
        codings = List.copyOf(codings);
    }

    /** Returns true if no dictionary is used. */
    public boolean isOff() {
        return codings.isEmpty();
    }
}
