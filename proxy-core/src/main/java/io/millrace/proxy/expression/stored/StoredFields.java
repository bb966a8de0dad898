package io.millrace.proxy.expression.stored;

import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.FieldType;
import io.millrace.proxy.expression.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The fields that expressions over stored responses may name. No state. */
public final class StoredFields {
    private static final List<Field<StoredFacts>> COMMON = List.of(
            Field.text("url", "the URL of the response in the cache key", facts -> facts.url()
                    .text()),
            Field.lowerCase("scheme", "`http` or `https`", facts -> facts.url().scheme()),
            Field.lowerCase(
                    "host",
                    "the host of the URL, with its port unless that is the default of the scheme",
                    facts -> facts.url().host()),
            Field.text("path", "the path of the URL, without the query", facts -> facts.url()
                    .path()),
            Field.text("target", "the path and the query of the URL", facts -> facts.url()
                    .target()),
            Field.text("query", "the query of the URL, without `?`; empty where there is none", facts -> facts.url()
                    .query()),
            Field.number("status", FieldType.INTEGER, "the status code", StoredFacts::status),
            Field.lowerCase(
                    "type",
                    "the media type of Content-Type in lower case, without parameters",
                    facts -> mediaType(facts.contentType())),
            Field.number(
                    "age",
                    FieldType.DURATION,
                    "time since the response was stored or last validated",
                    StoredFacts::ageNanos),
            Field.number(
                    "size",
                    FieldType.SIZE,
                    "length of the body; no value if it is not known",
                    facts -> bodyBytes(facts)),
            Field.texts("tag", "the tags of the response", StoredFacts::tags));

    private static final Field<StoredFacts> TIER =
            Field.lowerCase("tier", "`ram` if the response is in RAM, else `disk`", StoredFacts::tier);

    private static final Field<StoredFacts> HEADER =
            Field.keyed("header", "the values of a response field, one for each field line", StoredFacts::header);

    /** The fields with values in the inventory (the table of stored objects), for listings. */
    public static final Schema<StoredFacts> LISTED = Schema.of(with(TIER));

    /** The fields with values in every stored response, for purges. */
    public static final Schema<StoredFacts> PURGED = Schema.of(with(HEADER));

    private StoredFields() {}

    private static List<Field<StoredFacts>> with(Field<StoredFacts> more) {
        List<Field<StoredFacts>> fields = new ArrayList<>(COMMON);
        fields.add(more);
        return fields;
    }

    private static @Nullable String mediaType(@Nullable String contentType) {
        if (contentType == null) {
            return null;
        }
        int semicolon = contentType.indexOf(';');
        String type = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
        return type.strip().toLowerCase(Locale.ROOT);
    }

    private static long bodyBytes(StoredFacts facts) {
        long bytes = facts.bodyBytes();
        return bytes < 0 ? Field.ABSENT : bytes;
    }
}
