package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.http.FieldName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class VarianceTest {

    @ParameterizedTest(name = "RFC 9110 12.5.5: Vary \"{0}\" names {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Vary: Foo                              | Foo",
                "Vary: b, a                             | a, b",
                "Vary: Accept-Encoding, accept-encoding | Accept-Encoding",
                "Vary: foo^Vary: Bar                    | Bar, foo",
                "Vary: , ,                              | ~~",
                "X: y                                   | ~~"
            })
    void readsNamesOnceAndInOneOrder(String fields, String names) {
        assertEquals(names, Variance.of(Heads.fields(fields)).toString());
    }

    @ParameterizedTest(name = "RFC 9111 4.1: \"{0}\" matches no request")
    @ValueSource(
            strings = {
                "Vary: *",
                "Vary: *, *",
                "Vary: *^Vary: *",
                "Vary: , *",
                "Vary:^Vary: *",
                "Vary: *, Foo",
                "Vary: Foo, *",
                "Vary: a b",
                "Vary: a;b"
            })
    void anyMatchesNothing(String fields) {
        Variance any = Variance.of(Heads.fields(fields));
        assertTrue(any.isAny());
        assertFalse(any.isNone());
        assertFalse(any.matches(any.valuesOf(Heads.fields()), Heads.fields()));
    }

    @Test
    void moreNamesThanTheBoundCountAsAny() {
        StringBuilder vary = new StringBuilder("Vary: a0");
        for (int i = 1; i < Variance.NAMES_MAX; i++) {
            vary.append(", a").append(i);
        }
        assertFalse(Variance.of(Heads.fields(vary.toString())).isAny());
        assertTrue(Variance.of(Heads.fields(vary + ", b")).isAny());
    }

    @ParameterizedTest(name = "RFC 9111 4.1: with Vary {0}, \"{1}\" and \"{2}\" match: {3}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Foo             | Foo: 1                     | foo: 1                      | true",
                "Foo             | Foo: 1                     | Foo: 2                      | false",
                "Foo             | Foo: 1                     | X: y                        | false",
                "Foo             | X: y                       | X: z                        | true",
                "Foo             | Foo:                       | X: y                        | false",
                "Foo             | Foo: 1, 2                  | Foo: 1^Foo: 2               | true",
                "Foo             | Foo: 1,2                   | Foo:  1 , 2                 | true",
                "Foo             | Foo: 1,2                   | Foo: 2,1                    | false",
                "Foo             | Foo: a                     | Foo: A                      | false",
                "Foo             | Foo: \"a, b\"              | Foo: \"a,b\"                | false",
                "Foo, Bar        | Foo: 1^Bar: 2              | Bar: 2^Foo: 1               | true",
                "Foo, Bar        | Foo: 1^Bar: 2              | Foo: 12^Bar:                | false",
                "Foo, Bar        | Foo: 1                     | Bar: 1                      | false",
                "Accept-Encoding | Accept-Encoding: gzip, br  | Accept-Encoding: GZIP,br    | true",
                "Accept-Encoding | Accept-Encoding: gzip;q=1  | Accept-Encoding: gzip; q=1  | true",
                "Accept-Encoding | Accept-Encoding: gzip, br  | Accept-Encoding: br, gzip   | true",
                "Accept-Encoding | Accept-Encoding: gzip;q=1  | Accept-Encoding: gzip       | true",
                "Accept-Encoding | Accept-Encoding: gzip;q=0  | Accept-Encoding: gzip       | false",
                "Accept-Encoding | Accept-Encoding: a;q=.5    | Accept-Encoding: a;q=0.5    | false",
                "Accept-Encoding | Accept-Encoding: a;q=0.5   | Accept-Encoding: a; Q=0.500 | true",
                "Accept-Encoding | Accept-Encoding: a;q=0.5,b | Accept-Encoding: b,a;q=0.5  | true",
                "Accept-Encoding | Accept-Encoding: a;q=0.5,b | Accept-Encoding: a,b;q=0.5  | false",
                "Accept-Encoding | Accept-Encoding: a;q=2     | Accept-Encoding: a          | false",
                "Accept-Encoding | Accept-Encoding: a;q=1.001 | Accept-Encoding: a          | false",
                "Accept-Encoding | Accept-Encoding: a;q=0.5;x | Accept-Encoding: a;q=0.5    | false",
                "Accept-Charset  | Accept-Charset: utf-8,x    | Accept-Charset: X, UTF-8    | true",
                "Accept-Language | Accept-Language: en, de    | Accept-Language: de, en     | true",
                "Accept-Language | Accept-Language: en, de    | Accept-Language: de,en;q=.9 | false",
                "Accept-Language | Accept-Language: en, de    | Accept-Language: eN ,  De   | true",
                "Accept-Language | Accept-Language: en        | Accept-Language: de         | false",
                "User-Agent      | User-Agent: A (b, c)       | User-Agent: A (b, c)        | true",
                "User-Agent      | User-Agent: A              | User-Agent: a               | false"
            })
    void comparesNormalisedValues(String vary, String first, String second, boolean matches) {
        Variance variance = Variance.of(Heads.fields("Vary: " + vary));
        byte[] values = variance.valuesOf(Heads.fields(first));
        assertEquals(matches, variance.matches(values, Heads.fields(second)));
        assertEquals(matches, Arrays.equals(values, variance.valuesOf(Heads.fields(second))));
    }

    @Test
    void markerStaysWhileItNamesAllFields() {
        Variance both = Variance.of(Heads.fields("Vary: a, b"));
        Variance one = Variance.of(Heads.fields("Vary: b"));
        Variance other = Variance.of(Heads.fields("Vary: c"));
        StoredHead marker = StoredHead.varyMarker(both, 7, NOW);
        assertSame(marker, both.markerAfter(marker, 8, NOW));
        assertSame(marker, one.markerAfter(marker, 8, NOW));
        assertSame(marker, Variance.NONE.markerAfter(marker, 8, NOW));
        StoredHead changed = other.markerAfter(marker, 8, NOW);
        assertNotSame(marker, changed);
        assertEquals(8, changed.nonce());
        assertEquals("c", changed.variance().toString());
        assertEquals(9, both.markerAfter(null, 9, NOW).nonce());
        assertEquals(9, both.markerAfter(Heads.stored("X: y"), 9, NOW).nonce());
    }

    @Test
    void variantKeysDifferByNonceAndValuesAndNeverEqualAPrimaryKey() {
        byte[] primary = CacheKey.of(Heads.target("http://a.example/x")).bytes();
        Variance variance = Variance.of(Heads.fields("Vary: Foo"));
        StoredHead marker = StoredHead.varyMarker(variance, 1, NOW);
        byte[] key = VariantKey.of(primary, marker, Heads.fields("Foo: 1"), EncodingRules.NONE);
        assertArrayEquals(key, VariantKey.of(primary, marker, Heads.fields("foo: 1 "), EncodingRules.NONE));
        assertFalse(Arrays.equals(key, VariantKey.of(primary, marker, Heads.fields("Foo: 2"), EncodingRules.NONE)));
        assertFalse(Arrays.equals(
                key,
                VariantKey.of(
                        primary, StoredHead.varyMarker(variance, 2, NOW), Heads.fields("Foo: 1"), EncodingRules.NONE)));
        assertEquals(0, key[primary.length]);
        assertEquals(FieldName.of("foo"), variance.names().get(0));
    }

    /** Without compression, keys of variants are those of volumes that earlier versions wrote. */
    @Test
    void variantKeysWithoutCompressionStayTheSame() {
        byte[] primary = CacheKey.of(Heads.target("http://a.example/x")).bytes();
        StoredHead marker = StoredHead.varyMarker(Variance.of(Heads.fields("Vary: Accept-Encoding, Foo, Bar")), 7, NOW);
        byte[] key = VariantKey.of(
                primary,
                marker,
                Heads.fields("Foo: 1", "Accept-Encoding: gzip, br"),
                CacheSettings.DEFAULTS.encoding());
        String values = new String(key, primary.length, key.length - primary.length, StandardCharsets.ISO_8859_1);
        assertEquals("\0" + "\0\0\0\0\0\0\0\7" + "\1\0\0\0\7br,gzip" + "\0" + "\1\0\0\0\0011", values);
        assertArrayEquals(
                marker.variance().valuesOf(Heads.fields("Accept-Encoding: gzip, br")),
                marker.variance().valuesOf(Heads.fields("Accept-Encoding: gzip, br"), EncodingRules.NONE));
    }
}
