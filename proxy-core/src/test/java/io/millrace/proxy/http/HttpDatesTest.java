package io.millrace.proxy.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HttpDatesTest {

    private static final long SEED = 0xda7e5L;
    private static final long NOW = Instant.parse("2026-11-20T12:00:00Z").getEpochSecond();
    private static final DateTimeFormatter FIXED =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT);

    @ParameterizedTest(name = "RFC 9110 5.6.7: {0} is {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "Sun, 06 Nov 1994 08:49:37 GMT    | 1994-11-06T08:49:37Z",
                "Sunday, 06-Nov-94 08:49:37 GMT   | 1994-11-06T08:49:37Z",
                "Sun Nov  6 08:49:37 1994         | 1994-11-06T08:49:37Z",
                "Sun Nov 16 08:49:37 1994         | 1994-11-16T08:49:37Z",
                "SUN, 06 nOV 1994 08:49:37 gmt    | 1994-11-06T08:49:37Z",
                "Mon, 06 Nov 1994 08:49:37 GMT    | 1994-11-06T08:49:37Z",
                "Thu, 29 Feb 2024 23:59:60 GMT    | 2024-02-29T23:59:59Z",
                "Thu, 01 Jan 1970 00:00:00 GMT    | 1970-01-01T00:00:00Z",
                "Wed, 31 Dec 1969 23:59:59 GMT    | 1969-12-31T23:59:59Z",
                "Tue, 19 Jan 2038 14:14:08 GMT    | 2038-01-19T14:14:08Z",
                "Sun, 21 Nov 2286 04:46:39 GMT    | 2286-11-21T04:46:39Z",
                "Fri, 31 Dec 9999 23:59:59 GMT    | 9999-12-31T23:59:59Z",
                "Thursday, 18-Aug-50 02:01:18 GMT | 2050-08-18T02:01:18Z",
                "Friday, 20-Nov-76 11:59:59 GMT   | 2076-11-20T11:59:59Z",
                "Friday, 20-Nov-76 12:00:00 GMT   | 2076-11-20T12:00:00Z",
                "Friday, 20-Nov-76 12:00:01 GMT   | 1976-11-20T12:00:01Z",
                "Friday, 01-Jan-77 00:00:00 GMT   | 1977-01-01T00:00:00Z",
                "Friday, 01-Jan-99 00:00:00 GMT   | 1999-01-01T00:00:00Z",
                "Friday, 01-Jan-00 00:00:00 GMT   | 2000-01-01T00:00:00Z"
            })
    void reads(String text, String instant) {
        assertEquals(Instant.parse(instant).getEpochSecond(), parse(text));
    }

    @ParameterizedTest(name = "RFC 9110 5.6.7: \"{0}\" is no date")
    @ValueSource(
            strings = {
                "",
                "0",
                "-1",
                "Thu, 18 Aug 2050 02:01:18 UTC",
                "Thu, 18 Aug 2050 02:01:18 AEST",
                "Thu, 18 Aug 50 02:01:18 GMT",
                "Thu 18 Aug 2050 02:01:18 GMT",
                "Thu, 18  Aug  2050 02:01:18 GMT",
                "Thu, 18-Aug-2050 02:01:18 GMT",
                "Thu, 18 Aug 2050 02.01.18 GMT",
                "Thu, 18 Aug 2050 2:01:18 GMT",
                "Thu, 18 Aug 2050 24:00:00 GMT",
                "Thu, 18 Aug 2050 02:60:18 GMT",
                "Thu, 18 Aug 2050 02:01:61 GMT",
                "Thu, 31 Apr 2050 02:01:18 GMT",
                "Thu, 29 Feb 2023 02:01:18 GMT",
                "Thu, 29 Feb 2100 02:01:18 GMT",
                "Thu, 00 Aug 2050 02:01:18 GMT",
                "Xxx, 18 Aug 2050 02:01:18 GMT",
                "Thu, 18 Xxx 2050 02:01:18 GMT",
                "Thu, 18 Aug 2x50 02:01:18 GMT",
                "Thu, 18-Aug-50 02:01:18 GMT",
                "Thursday, 18-Aug-2050 02:01:18 GMT",
                "Thu Aug  8 02:01:18 50  ",
                "Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT"
            })
    void refuses(String text) {
        assertEquals(HttpDates.INVALID, parse(text));
    }

    @Test
    void writesLikeTheJdkAndReadsItBack() {
        Random random = new Random(SEED);
        long first = LocalDateTime.of(0, 1, 1, 0, 0).toEpochSecond(ZoneOffset.UTC);
        long last = LocalDateTime.of(9999, 12, 31, 23, 59, 59).toEpochSecond(ZoneOffset.UTC);
        for (int round = 0; round < 20_000; round++) {
            long seconds = first + (long) (random.nextDouble() * (last - first));
            String text = HttpDates.format(seconds);
            assertEquals(
                    FIXED.format(LocalDateTime.ofEpochSecond(seconds, 0, ZoneOffset.UTC)),
                    text,
                    "seed " + SEED + " round " + round);
            assertEquals(seconds, parse(text), "seed " + SEED + " round " + round);
        }
    }

    @Test
    void readsDamagedDatesWithoutFailing() {
        Random random = new Random(SEED);
        String[] texts = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
        };
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = texts[random.nextInt(texts.length)].getBytes(ISO_8859_1);
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            int from = random.nextInt(3);
            long date = HttpDates.parse(bytes, from, bytes.length - random.nextInt(3), NOW);
            if (date != HttpDates.INVALID) {
                assertEquals(date, parse(HttpDates.format(date)), "seed " + SEED + " round " + round);
            }
        }
    }

    private static long parse(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        return HttpDates.parse(bytes, 0, bytes.length, NOW);
    }
}
