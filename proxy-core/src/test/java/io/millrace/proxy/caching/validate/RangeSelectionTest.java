package io.millrace.proxy.caching.validate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RangeSelectionTest {

    private static final long SEED = 0x4a29e5L;

    @ParameterizedTest(name = "RFC 9110 14.1.2, 14.2: \"{0}\" of {1} bytes is {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "bytes=0-0                     | 10 | 0-0",
                "bytes=0-9                     | 10 | 0-9",
                "bytes=0-10                    | 10 | 0-9",
                "bytes=2-                      | 10 | 2-9",
                "bytes=-3                      | 10 | 7-9",
                "bytes=-10                     | 10 | 0-9",
                "bytes=-11                     | 10 | 0-9",
                "bytes=9-9                     | 10 | 9-9",
                "BYTES=1-2                     | 10 | 1-2",
                "bytes= 1-2                    | 10 | 1-2",
                "bytes=1-2, ,                  | 10 | 1-2",
                "bytes=0-9223372036854775807   | 10 | 0-9",
                "bytes=0-99999999999999999999  | 10 | 0-9",
                "bytes=-99999999999999999999   | 10 | 0-9",
                "bytes=10-                     | 10 | unsatisfiable",
                "bytes=10-20                   | 10 | unsatisfiable",
                "bytes=99999999999999999999-   | 10 | unsatisfiable",
                "bytes=-0                      | 10 | unsatisfiable",
                "bytes=10-,20-30               | 10 | unsatisfiable",
                "bytes=0-                      | 0  | unsatisfiable",
                "bytes=-1                      | 0  | whole",
                "bytes=0-1,4-5                 | 10 | 0-1,4-5",
                "bytes=4-5, 0-1                | 10 | 4-5,0-1",
                "bytes=0-1,20-30               | 10 | 0-1",
                "bytes=0-5,1-6                 | 10 | 0-5,1-6",
                "bytes=0-5,1-6,2-7             | 10 | whole",
                "bytes=0-,0-,0-                | 10 | whole",
                "bytes=5-4                     | 10 | whole",
                "bytes=5-4,0-1                 | 10 | whole",
                "bytes=-                       | 10 | whole",
                "bytes=                        | 10 | whole",
                "bytes=1                       | 10 | whole",
                "bytes=a-b                     | 10 | whole",
                "bytes=1-b                     | 10 | whole",
                "bytes=+1-2                    | 10 | whole",
                "bytes=1 - 2                   | 10 | whole",
                "bytes=--1                     | 10 | whole",
                "bytes=1-2-3                   | 10 | whole",
                "bytes 0-1                     | 10 | whole",
                "bytes                         | 10 | whole",
                "items=0-1                     | 10 | whole",
                "~~                            | 10 | whole"
            })
    void reads(String range, long length, String expected) {
        assertEquals(expected, textOf(RangeSelection.of(range(range), length)));
    }

    @Test
    void tooManyRangesGetEverything_RFC9110_17_15() {
        StringBuilder most = new StringBuilder("bytes=0-0");
        for (int i = 1; i < RangeSelection.RANGES_MAX; i++) {
            most.append(',').append(i * 2).append('-').append(i * 2);
        }
        RangeSelection selection = RangeSelection.of(range(most.toString()), 1000);
        assertEquals(
                RangeSelection.RANGES_MAX,
                ((RangeSelection.Multi) selection).ranges().size());
        assertEquals(RangeSelection.WHOLE, RangeSelection.of(range(most + ",999-999"), 1000));
    }

    @Test
    void severalRangeFieldsAreIgnored() {
        assertEquals(RangeSelection.WHOLE, RangeSelection.of(Heads.fields("Range: bytes=0-0^Range: bytes=0-0"), 10));
        assertEquals(RangeSelection.WHOLE, RangeSelection.of(FieldSection.EMPTY, 10));
    }

    @Test
    void appliesToGetOfAStored200WhoseIfRangeHolds_RFC9110_14_2() {
        StoredHead stored = Heads.stored("ETag: \"a\"");
        StoredHead error = Heads.stored(Heads.response(404, "Cache-Control: max-age=60"));
        String range = "Range: bytes=1-2";
        assertEquals("1-2", textOf(RangeSelection.of(Heads.get(range), stored, 10)));
        assertEquals("1-2", textOf(RangeSelection.of(Heads.get(range + "^If-Range: \"a\""), stored, 10)));
        assertEquals("whole", textOf(RangeSelection.of(Heads.get(range + "^If-Range: \"b\""), stored, 10)));
        assertEquals("whole", textOf(RangeSelection.of(Heads.get(range), error, 10)));
        assertEquals("whole", textOf(RangeSelection.of(Heads.get(), stored, 10)));
        assertEquals(
                "whole", textOf(RangeSelection.of(Heads.request("HEAD", "http://a.example/x", range), stored, 10)));
    }

    @Test
    void rangesLieWithinTheContentForAnyRequest() {
        Random random = new Random(SEED);
        String alphabet = "0123456789-,- ";
        for (int round = 0; round < 50_000; round++) {
            StringBuilder range = new StringBuilder("bytes=");
            for (int i = random.nextInt(14); i > 0; i--) {
                range.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            long length = random.nextInt(200);
            String message = "seed " + SEED + " round " + round + ": " + range + " of " + length;
            for (RangeSelection.ByteRange each : rangesOf(RangeSelection.of(range(range.toString()), length))) {
                assertTrue(each.first() >= 0 && each.first() <= each.last() && each.last() < length, message);
                assertTrue(each.length() >= 1 && each.length() <= length, message);
            }
        }
    }

    private static FieldSection range(String value) {
        return FieldSection.builder().add(FieldName.RANGE, value).build();
    }

    private static List<RangeSelection.ByteRange> rangesOf(RangeSelection selection) {
        if (selection instanceof RangeSelection.Single single) {
            return List.of(single.range());
        }
        return selection instanceof RangeSelection.Multi multi ? multi.ranges() : List.of();
    }

    private static String textOf(RangeSelection selection) {
        if (selection == RangeSelection.WHOLE) {
            return "whole";
        }
        if (selection == RangeSelection.UNSATISFIABLE) {
            return "unsatisfiable";
        }
        List<String> texts = new ArrayList<>();
        for (RangeSelection.ByteRange range : rangesOf(selection)) {
            texts.add(range.first() + "-" + range.last());
        }
        return String.join(",", texts);
    }
}
