package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.IpAddress;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the addresses in a list. */
final class AddressSetTest {
    private static AddressSet set(String text) throws InvalidValueException {
        return AddressSet.of(Arrays.asList(text.split(" ", -1)));
    }

    private static IpAddress ip(String text) throws UnknownHostException {
        return IpAddress.of(InetAddress.getByName(text).getAddress());
    }

    @ParameterizedTest(name = "{0} has {1}: {2}")
    @CsvSource({
        "10.0.0.0/8, 10.0.0.0, true",
        "10.0.0.0/8, 10.255.255.255, true",
        "10.0.0.0/8, 9.255.255.255, false",
        "10.0.0.0/8, 11.0.0.0, false",
        "192.168.1.5, 192.168.1.5, true",
        "192.168.1.5, 192.168.1.4, false",
        "192.168.1.5, 192.168.1.6, false",
        "192.168.1.5-192.168.1.9, 192.168.1.5, true",
        "192.168.1.5-192.168.1.9, 192.168.1.9, true",
        "192.168.1.5-192.168.1.9, 192.168.1.10, false",
        "10.0.0.0/8 ~10.1.2.3, 10.1.2.3, false",
        "10.0.0.0/8 ~10.1.2.3, 10.1.2.2, true",
        "10.0.0.0/8 ~10.1.2.3, 10.1.2.4, true",
        "10.0.0.0/8 ~10.1.2.3, 11.1.2.4, false",
        "~10.1.2.3, 10.1.2.4, true",
        "~10.1.2.3, 10.1.2.3, false",
        "~10.1.2.3, 2001:db8::1, true",
        "all, 10.1.2.3, true",
        "all, ::1, true",
        "all ~::1, ::1, false",
        "all ~::1, ::2, true",
        "~all, 10.1.2.3, false",
        "0.0.0.0/0, 255.255.255.255, true",
        "0.0.0.0/0, 0.0.0.0, true",
        "0.0.0.0/0, ::1, false",
        "::/0, 10.1.2.3, false",
        "::/0, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, true",
        "::/0 0.0.0.0/0, 10.1.2.3, true",
        "::/0, ::1, true",
        "2001:db8::/32, 2001:db8:ffff::1, true",
        "2001:db8::/32, 2001:db9::, false",
        "2001:db8::1-2001:db8::ff, 2001:db8::80, true",
        "2001:db8::1-2001:db8::ff, 2001:db8::100, false",
        "ffff::/16, ffff::1, true",
        "::ffff:10.0.0.0/104, 10.1.2.3, true",
        "::ffff:10.1.2.3, 10.1.2.3, true"
    })
    void containsListedAddressesThatAreNotExcluded(String list, String address, boolean has) throws Exception {
        assertEquals(has, set(list).contains(ip(address)));
    }

    @Test
    void mappedFormOfAnAddressIsThatAddress() throws Exception {
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xff;
        mapped[11] = (byte) 0xff;
        System.arraycopy(new byte[] {10, 1, 2, 3}, 0, mapped, 12, 4);
        assertEquals(ip("10.1.2.3"), IpAddress.of(mapped));
        assertTrue(set("10.0.0.0/8").contains(IpAddress.of(mapped)));
    }

    @Test
    void hasNoAddressThatIsNotKnown() throws Exception {
        assertFalse(set("all").contains(null));
        assertFalse(AddressSet.NONE.contains(ip("10.1.2.3")));
    }

    @ParameterizedTest(name = "{0} covers {1}: {2}")
    @CsvSource({
        "10.0.0.0/8, 10.1.0.0/16, true",
        "10.1.0.0/16, 10.0.0.0/8, false",
        "10.0.0.0/9 10.128.0.0/9, 10.0.0.0/8, true",
        "10.0.0.0/8 ~10.1.2.3, 10.1.0.0/16, false",
        "all, ~10.1.2.3, true",
        "~10.1.2.3, all, false",
        "0.0.0.0/0, ::1, false",
        "::1, ~all, true"
    })
    void coversASetWithoutFurtherAddresses(String list, String other, boolean covers) throws Exception {
        assertEquals(covers, set(list).covers(set(other)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0 | '10.0.0' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9",
                "~ | '' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9",
                "10.0.0.1/8 | '10.0.0.1/8' has bits set beyond its prefix of 8",
                "10.0.0.0/33 | '10.0.0.0/33' has a prefix that is not 0 to 32 bits long",
                "10.0.0.9-10.0.0.1 | '10.0.0.9-10.0.0.1' ends before it begins",
                "10.0.0.9-::1 | '10.0.0.9-::1' begins with an address of another family than its end",
                "10.0.0.9- | '10.0.0.9-' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9"
            })
    void rejectsInvalidRanges(String text, String problem) {
        assertEquals(
                problem,
                assertThrows(InvalidValueException.class, () -> set(text)).problem());
    }

    /** Some prefixes differ by a few bits at the end, so that ranges touch, overlap and contain each other. */
    private static final List<String> PREFIXES =
            List.of("10.0.0.", "255.255.255.", "0.0.0.", "2001:db8::", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff");

    private static String address(Random random, String prefix) {
        int last = random.nextInt(16);
        return prefix.endsWith("ff")
                ? prefix + "f" + Integer.toHexString(last)
                : prefix + (prefix.endsWith(".") ? Integer.toString(240 + last) : Integer.toHexString(last));
    }

    private static BigInteger number(String address) throws UnknownHostException {
        return new BigInteger(1, InetAddress.getByName(address).getAddress());
    }

    /** Returns whether a single text contains the address. */
    private static boolean isIn(String range, String address) throws UnknownHostException {
        if (range.equals("all")) {
            return true;
        }
        int dash = range.indexOf('-');
        String from = dash < 0 ? range : range.substring(0, dash);
        String to = dash < 0 ? range : range.substring(dash + 1);
        return from.contains(":") == address.contains(":")
                && number(from).compareTo(number(address)) <= 0
                && number(address).compareTo(number(to)) <= 0;
    }

    private static boolean naive(List<String> texts, String address) throws UnknownHostException {
        boolean listed = false;
        boolean has = false;
        for (String text : texts) {
            if (text.startsWith("~")) {
                if (isIn(text.substring(1), address)) {
                    return false;
                }
            } else {
                listed = true;
                has |= isIn(text, address);
            }
        }
        return has || !listed;
    }

    @Test
    void agreesWithASearchOfEachText() throws Exception {
        long seed = Long.getLong("millrace.test.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 3000; round++) {
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(6); i >= 0; i--) {
                String prefix = PREFIXES.get(random.nextInt(PREFIXES.size()));
                String one = address(random, prefix);
                String other = address(random, prefix);
                boolean ordered = number(one).compareTo(number(other)) <= 0;
                String range = random.nextInt(40) == 0
                        ? "all"
                        : random.nextBoolean() ? one : ordered ? one + "-" + other : other + "-" + one;
                texts.add(random.nextInt(3) == 0 ? "~" + range : range);
            }
            AddressSet set = AddressSet.of(texts);
            for (String prefix : PREFIXES) {
                for (int i = 0; i < 8; i++) {
                    String address = address(random, prefix);
                    assertEquals(
                            naive(texts, address),
                            set.contains(ip(address)),
                            () -> texts + " and " + address + ", -Dmillrace.test.seed=" + seed);
                }
            }
        }
    }

    private static List<String> ranges(Random random) throws UnknownHostException {
        List<String> texts = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            String prefix = PREFIXES.get(random.nextInt(PREFIXES.size()));
            String one = address(random, prefix);
            String other = address(random, prefix);
            boolean ordered = number(one).compareTo(number(other)) <= 0;
            texts.add((random.nextInt(4) == 0 ? "~" : "") + (ordered ? one + "-" + other : other + "-" + one));
        }
        return texts;
    }

    @Test
    void unionsContainBothSetsAndTheirTextParsesToTheSame() throws Exception {
        long seed = Long.getLong("millrace.test.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            AddressSet one = AddressSet.of(ranges(random));
            AddressSet other = AddressSet.of(ranges(random));
            List<AddressSet> made = List.of(one.or(other), one.and(other), one.butNot(other));
            for (String prefix : PREFIXES) {
                IpAddress address = ip(address(random, prefix));
                boolean inOne = one.contains(address);
                boolean inOther = other.contains(address);
                List<Boolean> has = List.of(inOne || inOther, inOne && inOther, inOne && !inOther);
                for (int i = 0; i < has.size(); i++) {
                    AddressSet set = made.get(i);
                    AddressSet again = AddressSet.of(set.texts());
                    assertEquals(has.get(i), set.contains(address), () -> one + " and " + other + ", seed " + seed);
                    assertTrue(again.covers(set) && set.covers(again), () -> set + " from " + one + " and " + other);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0} without {1} is {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "all | 10.0.0.0/8 | 0.0.0.0-9.255.255.255, 11.0.0.0-255.255.255.255, ::/0",
                "all | 0.0.0.0/0 | ::/0",
                "all | ::/0 | 0.0.0.0/0",
                "all | 2001:db8::/32 | 0.0.0.0/0, ::-2001:db7:ffff:ffff:ffff:ffff:ffff:ffff, 2001:db9::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "all | ::1 | 0.0.0.0/0, ::, ::2-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "10.0.0.0/8 | 10.0.0.0/9 | 10.128.0.0/9",
                "10.0.0.0/30 | 10.0.0.0 | 10.0.0.1-10.0.0.3",
                "10.0.0.0/30 | 10.0.0.0-10.0.0.2 | 10.0.0.3",
                "10.0.0.0/8 | all | ~all",
                "all | ~all | all"
            })
    void differencesAreWrittenAsRanges(String list, String other, String left) throws Exception {
        assertEquals(left, set(list).butNot(set(other)).toString());
    }
}
