package io.millrace.proxy.expression;

import static io.millrace.proxy.expression.FieldType.DURATION;
import static io.millrace.proxy.expression.FieldType.INTEGER;
import static io.millrace.proxy.expression.FieldType.SIZE;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A subject with a field of each type. */
record Page(
        String host,
        @Nullable String type,
        long status,
        long size,
        Duration age,
        List<String> tags,
        Map<String, List<String>> header) {
    static final Page SAMPLE = new Page(
            "a.example",
            "image/png",
            200,
            3 << 20,
            Duration.ofDays(3),
            List.of("post-17", "archive"),
            Map.of("etag", List.of("\"x\"")));

    /** A page without type, size, tags and fields. */
    static final Page BARE =
            new Page("b.example:8080", null, 404, Field.ABSENT, Duration.ofMinutes(5), List.of(), Map.of());

    static final Schema<Page> SCHEMA = Schema.of(List.of(
            Field.lowerCase("host", "The host.", Page::host),
            Field.text("type", "The type.", Page::type),
            Field.number("status", INTEGER, "The status.", Page::status),
            Field.number("size", SIZE, "The size.", Page::size),
            Field.number("age", DURATION, "The age.", page -> page.age().toNanos()),
            Field.texts("tag", "The tags.", Page::tags),
            Field.keyed("header", "A field.", (page, name) -> page.header().getOrDefault(name, List.of()))));
}
