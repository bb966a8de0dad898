package io.millrace.proxy.http.structured;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests every parsing case that the HTTP working group publishes, compared as JSON. */
final class StructuredFieldsTest {

    private static final List<String> FILES = List.of(
            "binary.json",
            "boolean.json",
            "date.json",
            "dictionary.json",
            "display-string.json",
            "examples.json",
            "item.json",
            "key-generated.json",
            "large-generated.json",
            "list.json",
            "listlist.json",
            "number-generated.json",
            "number.json",
            "param-dict.json",
            "param-list.json",
            "param-listlist.json",
            "string-generated.json",
            "string.json",
            "token-generated.json",
            "token.json");

    static Stream<Arguments> cases() {
        return FILES.stream()
                .flatMap(file -> JsonCases.of(file).stream().map(one -> Arguments.of(file, one.get("name"), one)));
    }

    @Test
    void allCasesOfTheWorkingGroupAreThere() {
        assertEquals(1591, cases().count());
    }

    @ParameterizedTest(name = "RFC 9651 4.2: {0}: {1}")
    @MethodSource("cases")
    void parsesAsTheWorkingGroupHasIt(String file, String name, Map<String, Object> one) {
        String raw = String.join(
                ", ",
                ((List<?>) one.get("raw")).stream().map(String.class::cast).toList());
        @Nullable
        Object parsed =
                switch ((String) one.get("header_type")) {
                    case "item" -> item(StructuredFields.parseItem(raw));
                    case "list" -> list(StructuredFields.parseList(raw));
                    default -> dictionary(StructuredFields.parseDictionary(raw));
                };
        if (Boolean.TRUE.equals(one.get("must_fail"))) {
            assertNull(parsed, raw);
        } else if (parsed == null) {
            assertTrue(Boolean.TRUE.equals(one.get("can_fail")), () -> "refused: " + raw);
        } else {
            assertEquals(plain(one.get("expected")), parsed, raw);
        }
    }

    @Test
    void joinsTheLinesOfAField() {
        FieldSection fields = FieldSection.builder()
                .add("CDN-Cache-Control", "max-age=60")
                .add("CDN-Cache-Control", "no-store")
                .build();
        Map<String, Member> members = StructuredFields.dictionary(fields, FieldName.CDN_CACHE_CONTROL);
        assertNotNull(members);
        assertEquals(List.of("max-age", "no-store"), List.copyOf(members.keySet()));
    }

    @Test
    void anAbsentFieldIsEmptyAndAMalformedFieldIsInvalid() {
        FieldSection fields =
                FieldSection.builder().add("CDN-Cache-Control", "max-age=60,").build();
        assertEquals(Map.of(), StructuredFields.dictionary(fields, FieldName.CACHE_STATUS));
        assertEquals(List.of(), StructuredFields.list(fields, FieldName.CACHE_STATUS));
        assertNull(StructuredFields.dictionary(fields, FieldName.CDN_CACHE_CONTROL));
        assertNull(StructuredFields.list(fields, FieldName.CDN_CACHE_CONTROL));
    }

    private static @Nullable Object dictionary(@Nullable Map<String, Member> members) {
        if (members == null) {
            return null;
        }
        List<Object> pairs = new ArrayList<>();
        members.forEach((key, member) -> pairs.add(List.of(key, member(member))));
        return pairs;
    }

    private static @Nullable Object list(@Nullable List<Member> members) {
        return members == null
                ? null
                : members.stream().map(StructuredFieldsTest::member).toList();
    }

    private static @Nullable Object item(Member.@Nullable Item item) {
        return item == null ? null : member(item);
    }

    private static Object member(Member member) {
        Object value = member instanceof Member.Item item
                ? bare(item.value())
                : ((Member.InnerList) member)
                        .items().stream().map(StructuredFieldsTest::member).toList();
        List<Object> parameters = new ArrayList<>();
        member.parameters().forEach((key, parameter) -> parameters.add(List.of(key, bare(parameter))));
        return List.of(value, parameters);
    }

    private static Object bare(BareItem value) {
        if (value instanceof BareItem.SfInteger integer) {
            return integer.value();
        } else if (value instanceof BareItem.SfDecimal decimal) {
            return BigDecimal.valueOf(decimal.thousandths(), 3).stripTrailingZeros();
        } else if (value instanceof BareItem.SfString string) {
            return string.value();
        } else if (value instanceof BareItem.SfToken token) {
            return Map.of("__type", "token", "value", token.value());
        } else if (value instanceof BareItem.SfBytes bytes) {
            return Map.of("__type", "binary", "value", base32(bytes.value()));
        } else if (value instanceof BareItem.SfDate date) {
            return Map.of("__type", "date", "value", date.epochSeconds());
        } else if (value instanceof BareItem.SfDisplayString text) {
            return Map.of("__type", "displaystring", "value", text.value());
        }
        return ((BareItem.SfBoolean) value).value();
    }

    /** Returns the expected value with decimals in one form: 1.10 is 1.1. */
    private static Object plain(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(StructuredFieldsTest::plain).toList();
        }
        return value instanceof BigDecimal decimal ? decimal.stripTrailingZeros() : value;
    }

    private static String base32(byte[] bytes) {
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int bits = 0;
        int value = 0;
        for (byte b : bytes) {
            value = (value << 8) | (b & 0xff);
            for (bits += 8; bits >= 5; bits -= 5) {
                out.write(alphabet.charAt((value >>> (bits - 5)) & 31));
            }
        }
        if (bits > 0) {
            out.write(alphabet.charAt((value << (5 - bits)) & 31));
        }
        while (out.size() % 8 != 0) {
            out.write('=');
        }
        return out.toString(StandardCharsets.US_ASCII);
    }
}
