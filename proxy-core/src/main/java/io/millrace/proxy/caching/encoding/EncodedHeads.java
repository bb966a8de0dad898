package io.millrace.proxy.caching.encoding;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.WireHeads;
import io.millrace.proxy.caching.field.EntityTag;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * Decides which responses of origins this proxy encodes (compresses), and builds their heads. A response that may be
 * encoded varies by Accept-Encoding, also for clients that get it without a coding. Thread-safe: no state.
 */
public final class EncodedHeads {
    private static final long UNKNOWN = -1;

    private static final String ACCEPT_ENCODING = "Accept-Encoding";
    private static final String AVAILABLE_DICTIONARY = "Available-Dictionary";

    private static final String MULTIPART = "multipart/byteranges";

    /** Fields about the bytes that the origin sent. */
    private static final FieldName[] ABOUT_BYTES = {
        FieldName.CONTENT_LENGTH,
        FieldName.CONTENT_ENCODING,
        FieldName.ACCEPT_RANGES,
        FieldName.of("Content-MD5"),
        FieldName.of("Digest"),
        FieldName.of("Content-Digest"),
        FieldName.of("Repr-Digest")
    };

    private EncodedHeads() {}

    /**
     * Returns true if the response is encoded for clients that accept a coding.
     *
     * @param length bytes of the content; -1 if it is not known
     */
    public static boolean mayEncode(ResponseHead response, long length, EncodingRules rules) {
        return switch (response.status()) {
            case 200, 203, 403, 404, 410 -> wouldEncodeWhole(response.fields(), length, rules);
            default -> false;
        };
    }

    /**
     * Returns true if the whole representation of a response would be encoded.
     *
     * @param length bytes of the whole representation; -1 if it is not known
     */
    public static boolean wouldEncodeWhole(FieldSection fields, long length, EncodingRules rules) {
        return !rules.isOff()
                && (length == UNKNOWN || (length >= rules.bytesMin() && length <= rules.bytesMax()))
                && hasNoCoding(fields)
                && hasType(fields, rules)
                && !fields.hasToken(FieldName.CACHE_CONTROL, "no-transform");
    }

    /**
     * Returns true if a stored variant may be decoded for clients that accept other codings. The rules must include its
     * media type, and it must not have {@code no-transform}.
     */
    public static boolean mayDecode(FieldSection storedFields, EncodingRules rules) {
        return hasType(storedFields, rules) && !storedFields.hasToken(FieldName.CACHE_CONTROL, "no-transform");
    }

    /**
     * Returns true if this proxy would or might encode the whole representation of a 206. A 206 with several parts has
     * the media type multipart, so the media type of the representation is not known.
     */
    public static boolean mightEncodeWholeOfPart(FieldSection fields, EncodingRules rules) {
        String type = fields.get(FieldName.CONTENT_TYPE);
        boolean isMultipart = type != null && type.regionMatches(true, 0, MULTIPART, 0, MULTIPART.length());
        return isMultipart ? !rules.isOff() : wouldEncodeWhole(fields, UNKNOWN, rules);
    }

    private static boolean hasNoCoding(FieldSection fields) {
        int line = fields.find(FieldName.CONTENT_ENCODING);
        return line < 0
                || (fields.valueEqualsIgnoreCase(line, EncodingRules.IDENTITY)
                        && fields.next(FieldName.CONTENT_ENCODING, line) < 0);
    }

    private static boolean hasType(FieldSection fields, EncodingRules rules) {
        int line = fields.find(FieldName.CONTENT_TYPE);
        if (line < 0) {
            return false;
        }
        byte[] b = fields.bytes();
        int from = fields.valueStart(line);
        int to = from;
        while (to < fields.valueEnd(line) && b[to] != ';' && !FieldLexer.isSpace(b[to])) {
            to++;
        }
        return rules.includesType(b, from, to);
    }

    /** Returns the head for clients that get the response without a coding. */
    public static ResponseHead varied(ResponseHead response, EncodingRules rules) {
        String missing = missingInVary(response.fields(), rules);
        return missing == null
                ? response
                : response.withFields(FieldSection.builder()
                        .addAll(response.fields())
                        .add(FieldName.VARY, missing)
                        .build());
    }

    /**
     * Returns the head of a response that the origin has encoded. If the origin used a dictionary, Vary must list
     * Available-Dictionary, or clients without the dictionary would get the response (RFC 9842 s6.2).
     */
    public static ResponseHead encodedByOrigin(ResponseHead response, EncodingRules rules) {
        int line = response.fields().find(FieldName.CONTENT_ENCODING);
        boolean withDictionary = !rules.dictionaries().isOff()
                && line >= 0
                && (response.fields().hasToken(FieldName.CONTENT_ENCODING, ContentCoding.DICTIONARY_BROTLI.token())
                        || response.fields()
                                .hasToken(FieldName.CONTENT_ENCODING, ContentCoding.DICTIONARY_ZSTD.token()));
        return withDictionary ? varied(response, rules) : response;
    }

    /** Returns the fields that must be added to Vary, separated by commas; null for none. */
    private static @Nullable String missingInVary(FieldSection fields, EncodingRules rules) {
        if (fields.hasToken(FieldName.VARY, "*")) {
            return null;
        }
        boolean hasCoding = fields.hasToken(FieldName.VARY, ACCEPT_ENCODING);
        // Without dictionaries, Vary needs no entry for them.
        boolean hasDictionary = rules.dictionaries().isOff() || fields.hasToken(FieldName.VARY, AVAILABLE_DICTIONARY);
        if (hasCoding) {
            return hasDictionary ? null : AVAILABLE_DICTIONARY;
        }
        return hasDictionary ? ACCEPT_ENCODING : ACCEPT_ENCODING + ", " + AVAILABLE_DICTIONARY;
    }

    /**
     * Returns the head of the response in a coding. Its length is not known, and its entity tag is weak, because the
     * bytes are not those that the origin tagged (RFC 9110 s8.8.1).
     */
    public static ResponseHead encoded(ResponseHead response, ContentCoding coding, EncodingRules rules) {
        FieldSection fields = response.fields();
        FieldSection.Builder changed = FieldSection.builder().addAll(withWeakTag(fields));
        changed.add(FieldName.CONTENT_ENCODING, coding.token());
        String missing = missingInVary(fields, rules);
        if (missing != null) {
            changed.add(FieldName.VARY, missing);
        }
        return response.withFields(changed.build());
    }

    /**
     * Returns the head of a response whose content extensions transform. Its length is not known, and its entity tag is
     * weak, because the bytes are not those that the origin tagged (RFC 9110 s8.8.1).
     */
    public static ResponseHead transformed(ResponseHead response) {
        return response.withFields(withWeakTag(response.fields()));
    }

    private static FieldSection withWeakTag(FieldSection fields) {
        FieldSection.Builder changed = FieldSection.builder();
        for (int line = 0; line < fields.size(); line++) {
            if (fields.isNamed(line, FieldName.ETAG)) {
                changed.add(FieldName.ETAG, weak(fields, line));
            } else if (!WireHeads.isOneOf(fields, line, ABOUT_BYTES)) {
                changed.addLine(fields, line);
            }
        }
        return changed.build();
    }

    /**
     * Adapts the fields of the origin's 304 to a stored response that extensions may have transformed. The entity tag
     * becomes weak if the stored response has no strong tag, as after a transformation.
     */
    public static ResponseHead confirmedTransformed(ResponseHead notModified, StoredHead stored) {
        return hasNoStrongTag(stored) ? transformed(notModified) : notModified;
    }

    /**
     * Adapts the fields of the origin's 304 to the client's copy, which extensions may have transformed. The entity tag
     * becomes weak, unless If-None-Match names only strong tags.
     */
    public static ResponseHead confirmedTransformed(ResponseHead notModified, FieldSection requestFields) {
        String tags = requestFields.joined(FieldName.IF_NONE_MATCH);
        return tags == null || tags.contains("W/") ? transformed(notModified) : notModified;
    }

    /**
     * Returns true if extensions may transform the content: it has no coding, and the origin does not forbid it. False
     * for the statuses 204, 206 and 304.
     */
    public static boolean mayTransform(ResponseHead response) {
        return switch (response.status()) {
            case 204, 206, 304 -> false;
            default ->
                hasNoCoding(response.fields()) && !response.fields().hasToken(FieldName.CACHE_CONTROL, "no-transform");
        };
    }

    /**
     * Adapts the fields of the origin's 304 to a stored variant. If this proxy encoded the variant, the entity tag
     * becomes weak, and fields about the origin's bytes are removed. If the 304 has Vary, the fields that select a
     * coding are added to Vary.
     */
    public static ResponseHead confirmed(ResponseHead notModified, StoredHead stored, EncodingRules rules) {
        boolean varied = stored.variance().names().contains(FieldName.ACCEPT_ENCODING);
        if (!varied) {
            return notModified;
        }
        boolean encoded = stored.fields().contains(FieldName.CONTENT_ENCODING) && hasNoStrongTag(stored);
        return confirmed(notModified, encoded, rules);
    }

    /**
     * Adapts the fields of the origin's 304 to the copy of the client that sent the condition. The entity tag becomes
     * weak, with two exceptions: the client gets no coding, or If-None-Match names only strong tags, which this proxy
     * does not give to encoded content.
     */
    public static ResponseHead confirmed(ResponseHead notModified, FieldSection requestFields, EncodingRules rules) {
        if (rules.choose(requestFields) == null) {
            return notModified;
        }
        String tags = requestFields.joined(FieldName.IF_NONE_MATCH);
        return confirmed(notModified, tags == null || tags.contains("W/"), rules);
    }

    private static ResponseHead confirmed(ResponseHead notModified, boolean encoded, EncodingRules rules) {
        FieldSection fields = notModified.fields();
        FieldSection.Builder changed = FieldSection.builder();
        for (int line = 0; line < fields.size(); line++) {
            if (encoded && fields.isNamed(line, FieldName.ETAG)) {
                changed.add(FieldName.ETAG, weak(fields, line));
            } else if (!encoded || !WireHeads.isOneOf(fields, line, ABOUT_BYTES)) {
                changed.addLine(fields, line);
            }
        }
        String missing = fields.contains(FieldName.VARY) ? missingInVary(fields, rules) : null;
        if (missing != null) {
            changed.add(FieldName.VARY, missing);
        }
        return notModified.withFields(changed.build());
    }

    /** Returns true if a stored response has the coding that {@link EncodingRules#normalForm} returned. */
    public static boolean isIn(FieldSection fields, String form) {
        int line = fields.find(FieldName.CONTENT_ENCODING);
        if (line < 0) {
            return form.equals(EncodingRules.IDENTITY);
        }
        return !form.equals(EncodingRules.IDENTITY)
                && fields.valueEqualsIgnoreCase(line, form)
                && fields.next(FieldName.CONTENT_ENCODING, line) < 0;
    }

    /**
     * Returns the head of a stored response after its content was decoded. If the response had a coding, its
     * entity tag becomes weak, and fields about the encoded bytes are removed.
     *
     * @param length bytes of the decoded content
     */
    public static ResponseHead decoded(StoredHead stored, long length, long ageSeconds) {
        FieldSection fields = stored.fields();
        boolean encoded = fields.contains(FieldName.CONTENT_ENCODING);
        FieldSection.Builder changed = FieldSection.builder();
        for (int line = 0; line < fields.size(); line++) {
            if (encoded && fields.isNamed(line, FieldName.ETAG)) {
                changed.add(FieldName.ETAG, weak(fields, line));
            } else if (!encoded || !WireHeads.isOneOf(fields, line, ABOUT_BYTES)) {
                changed.addLine(fields, line);
            }
        }
        changed.remove(FieldName.CONTENT_LENGTH);
        changed.add(FieldName.CONTENT_LENGTH, length);
        changed.add(FieldName.AGE, ageSeconds);
        return ResponseHead.of(stored.status(), stored.reason(), changed.build());
    }

    /** Returns the trailers of a response that is encoded: without fields about the bytes that the origin sent. */
    public static @Nullable FieldSection encodedTrailers(@Nullable FieldSection trailers) {
        if (trailers == null) {
            return null;
        }
        FieldSection.Builder kept = FieldSection.builder();
        for (int line = 0; line < trailers.size(); line++) {
            if (!WireHeads.isOneOf(trailers, line, ABOUT_BYTES)) {
                kept.addLine(trailers, line);
            }
        }
        return kept.build();
    }

    /** Returns true if the entity tag is weak or missing, as after a transformation or an encoding by this proxy. */
    private static boolean hasNoStrongTag(StoredHead stored) {
        return !stored.hasEntityTag()
                || EntityTag.isWeak(stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd());
    }

    private static String weak(FieldSection fields, int line) {
        String tag = fields.value(line);
        boolean isWeak = EntityTag.isWeak(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
        return isWeak || !tag.startsWith("\"") ? tag : "W/" + tag;
    }

    /** Returns the declared Content-Length; -1 without one. */
    public static long declaredLength(ResponseHead response) {
        FieldSection fields = response.fields();
        int line = fields.find(FieldName.CONTENT_LENGTH);
        return line < 0 ? UNKNOWN : FieldLexer.number(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
    }
}
