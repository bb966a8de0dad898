package io.millrace.proxy.caching;

import io.millrace.proxy.caching.field.CookieValues;
import io.millrace.proxy.caching.field.WeightedList;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The selectors of a response: the request fields and cookies that select it. They are the fields in its Vary (RFC 9110
 * s12.5.5, RFC 9111 s4.1), and the fields and cookies that the operator configured. Sorted, without duplicates.
 * Immutable.
 */
public final class Variance {

    /** A response that does not vary. */
    public static final Variance NONE = new Variance(List.of(), List.of(), false);

    /** {@code Vary: *}: the response matches no later request. */
    public static final Variance ANY = new Variance(List.of(), List.of(), true);

    /**
     * Limit of selectors. A response with more selectors would rarely match another request, so it counts as
     * {@link #ANY}.
     */
    public static final int NAMES_MAX = 32;

    private static final byte ABSENT = 0;
    private static final byte PRESENT = 1;
    private static final byte[] NO_VALUES = {};

    private final List<FieldName> names;
    private final List<String> cookies;
    private final boolean isAny;

    private Variance(List<FieldName> names, List<String> cookies, boolean isAny) {
        this.names = names;
        this.cookies = cookies;
        this.isAny = isAny;
    }

    /** Returns the variance of the response's Vary field. A member that is no field name counts as {@code *}. */
    public static Variance of(FieldSection responseFields) {
        if (!responseFields.contains(FieldName.VARY)) {
            return NONE;
        }
        TreeSet<FieldName> names = new TreeSet<>(Comparator.comparing(FieldName::lower));
        ListCursor members = ListCursor.over(responseFields, FieldName.VARY);
        while (members.next()) {
            FieldName name = FieldName.of(members.bytes(), members.start(), members.end());
            if (name == null || members.isToken("*") || names.size() == NAMES_MAX) {
                return ANY;
            }
            names.add(name);
        }
        return names.isEmpty() ? NONE : new Variance(List.copyOf(names), List.of(), false);
    }

    /** Returns a variance over request fields and cookies, given in any order. */
    public static Variance of(Collection<FieldName> fields, Collection<String> cookieNames) {
        TreeSet<FieldName> names = new TreeSet<>(Comparator.comparing(FieldName::lower));
        names.addAll(fields);
        return ofNames(List.copyOf(names), List.copyOf(new TreeSet<>(cookieNames)));
    }

    /** Returns a variance over names that are already in the order of {@link #names} and {@link #cookies}. */
    static Variance ofNames(List<FieldName> names, List<String> cookies) {
        return names.isEmpty() && cookies.isEmpty()
                ? NONE
                : new Variance(List.copyOf(names), List.copyOf(cookies), false);
    }

    /** Returns the union of both. More than {@link #NAMES_MAX} selectors give {@link #ANY}. */
    Variance union(Variance other) {
        if (other.isNone() || isAny) {
            return this;
        }
        if (isNone() || other.isAny) {
            return other;
        }
        List<FieldName> bothNames = new ArrayList<>(names);
        bothNames.addAll(other.names);
        List<String> bothCookies = new ArrayList<>(cookies);
        bothCookies.addAll(other.cookies);
        Variance both = of(bothNames, bothCookies);
        return both.selectorCount() > NAMES_MAX ? ANY : both;
    }

    public boolean isNone() {
        return names.isEmpty() && cookies.isEmpty() && !isAny;
    }

    /** Returns true if the response matches no later request. */
    public boolean isAny() {
        return isAny;
    }

    /** The field names, sorted by their lower-case form. */
    public List<FieldName> names() {
        return names;
    }

    /** The cookie names, sorted. */
    List<String> cookies() {
        return cookies;
    }

    /** Returns true if credentials or cookies select the response. */
    public boolean isByCredentials() {
        return !cookies.isEmpty() || names.contains(FieldName.COOKIE) || names.contains(FieldName.AUTHORIZATION);
    }

    /** Number of fields and cookies. */
    public int selectorCount() {
        return names.size() + cookies.size();
    }

    /**
     * Returns the field or cookie at that index, fields first, for messages: {@code Accept-Encoding},
     * {@code Cookie[lang]}.
     */
    public String selectorAt(int index) {
        return index < names.size() ? names.get(index).text() : "Cookie[" + cookies.get(index - names.size()) + "]";
    }

    /** Returns all fields and cookies, for messages. */
    public List<String> selectors() {
        List<String> all = new ArrayList<>(selectorCount());
        for (int i = 0; i < selectorCount(); i++) {
            all.add(selectorAt(i));
        }
        return all;
    }

    /** Returns true if the other variance contains all selectors of this one. */
    public boolean isWithin(Variance other) {
        return !isAny && !other.isAny && other.names.containsAll(names) && other.cookies.containsAll(cookies);
    }

    /**
     * Returns a URL's Vary marker: the record of its selecting fields under the primary key. Called when a response
     * with this variance is about to be stored. Returns the present marker if it contains all these selectors; more
     * selectors than needed are safe. Otherwise creates a marker.
     *
     * @param present the object stored under the primary key, a marker or a response, or null
     * @param nonce a random number for a new marker
     */
    public StoredHead markerAfter(@Nullable StoredHead present, long nonce, long nowMillis) {
        if (present != null && present.isVaryMarker() && isWithin(present.variance())) {
            return present;
        }
        return StoredHead.varyMarker(this, nonce, nowMillis);
    }

    /**
     * Returns the request's normalized values of these fields and cookies in one array. Each value is a byte 0 if
     * absent, else a byte 1, the length in four bytes, and the bytes. Field lines are joined, and white space around
     * list members is omitted. Accept-Encoding, Accept-Language and Accept-Charset get a canonical form; see
     * {@link WeightedList}.
     */
    public byte[] valuesOf(FieldSection requestFields) {
        return valuesOf(requestFields, EncodingRules.NONE);
    }

    /**
     * Returns the values like {@link #valuesOf(FieldSection)}. If the rules encode responses, the value of
     * Accept-Encoding is the coding that the client gets ({@link EncodingRules#normalForm}).
     */
    public byte[] valuesOf(FieldSection requestFields, EncodingRules encoding) {
        if (isNone() || isAny) {
            return NO_VALUES;
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream(64);
        ByteArrayOutputStream value = new ByteArrayOutputStream(64);
        for (FieldName name : names) {
            value.reset();
            if (!encoding.isOff() && name.equals(FieldName.ACCEPT_ENCODING)) {
                value.writeBytes(encoding.normalForm(requestFields).getBytes(StandardCharsets.US_ASCII));
                put(true, value, all);
                continue;
            }
            if (requestFields.contains(name)) {
                normalize(requestFields, name, value);
            }
            put(requestFields.contains(name), value, all);
        }
        for (String name : cookies) {
            value.reset();
            put(CookieValues.append(requestFields, name, value), value, all);
        }
        return all.toByteArray();
    }

    private static void put(boolean present, ByteArrayOutputStream value, ByteArrayOutputStream all) {
        if (!present) {
            all.write(ABSENT);
            return;
        }
        all.write(PRESENT);
        int length = value.size();
        all.write(length >>> 24);
        all.write(length >>> 16);
        all.write(length >>> 8);
        all.write(length);
        all.writeBytes(value.toByteArray());
    }

    /** Returns true if a request has the values that {@link #valuesOf} returned for another request. */
    public boolean matches(byte[] values, FieldSection requestFields) {
        return matches(values, requestFields, EncodingRules.NONE);
    }

    /** As {@link #matches(byte[], FieldSection)}, for values that were computed with these rules. */
    public boolean matches(byte[] values, FieldSection requestFields, EncodingRules encoding) {
        return !isAny && (isNone() || Arrays.equals(values, valuesOf(requestFields, encoding)));
    }

    /** Returns the value at that index among the result of {@link #valuesOf}; null when it was absent. */
    public static @Nullable ByteBuffer valueAt(byte[] values, int index) {
        ByteBuffer in = ByteBuffer.wrap(values);
        for (int i = 0; in.hasRemaining(); i++) {
            int length = in.get() == ABSENT ? -1 : in.getInt();
            if (i == index) {
                return length < 0 ? null : in.slice(in.position(), length);
            }
            in.position(in.position() + Math.max(0, length));
        }
        return null;
    }

    /**
     * Returns true if a listed variant is compressed with a dictionary, and otherwise matches a request. The values may
     * differ only in Accept-Encoding and in Available-Dictionary.
     */
    public boolean isOtherDictionary(byte[] listed, byte[] values) {
        boolean withDictionary = false;
        for (int i = 0; i < selectorCount(); i++) {
            ByteBuffer value = valueAt(listed, i);
            FieldName name = i < names.size() ? names.get(i) : null;
            if (DictionaryRules.AVAILABLE_DICTIONARY.equals(name)) {
                withDictionary = value != null;
            } else if (!FieldName.ACCEPT_ENCODING.equals(name) && !Objects.equals(value, valueAt(values, i))) {
                return false;
            }
        }
        return withDictionary;
    }

    /** Formats the result of {@link #valuesOf} for messages: {@code Accept-Encoding: gzip; Cookie absent}. */
    String describe(byte[] values) {
        StringBuilder text = new StringBuilder();
        ByteBuffer in = ByteBuffer.wrap(values);
        for (int i = 0; i < selectorCount(); i++) {
            text.append(text.isEmpty() ? "" : "; ").append(selectorAt(i));
            if (!in.hasRemaining() || in.get() == ABSENT) {
                text.append(" absent");
                continue;
            }
            int length = in.remaining() < Integer.BYTES ? 0 : in.getInt();
            byte[] value = new byte[Math.max(0, Math.min(length, in.remaining()))];
            in.get(value);
            text.append(": ").append(new String(value, StandardCharsets.ISO_8859_1));
        }
        return text.toString();
    }

    @Override
    public String toString() {
        return isAny ? "*" : String.join(", ", selectors());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof Variance that
                        && isAny == that.isAny
                        && names.equals(that.names)
                        && cookies.equals(that.cookies));
    }

    @Override
    public int hashCode() {
        return 31 * names.hashCode() + cookies.hashCode();
    }

    private static void normalize(FieldSection fields, FieldName name, ByteArrayOutputStream to) {
        boolean isWeighted = name.equals(FieldName.ACCEPT_ENCODING)
                || name.equals(FieldName.ACCEPT_LANGUAGE)
                || name.equals(FieldName.ACCEPT_CHARSET);
        if (isWeighted) {
            WeightedList.normalize(fields, name, to);
            return;
        }
        ListCursor members = ListCursor.over(fields, name);
        byte[] bytes = members.bytes();
        boolean isFirst = true;
        while (members.next()) {
            if (!isFirst) {
                to.write(',');
            }
            isFirst = false;
            to.write(bytes, members.start(), members.end() - members.start());
        }
    }
}
