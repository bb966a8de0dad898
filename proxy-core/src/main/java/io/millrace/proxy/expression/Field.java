package io.millrace.proxy.expression;

import io.millrace.proxy.http.IpAddress;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A field that expressions may name: a name, a type, and a function that reads the value from a subject.
 *
 * <p>Immutable.
 *
 * @param <S> the type of the subject
 */
public final class Field<S> {
    /** The value of a number field if the subject has no such number. */
    public static final long ABSENT = Long.MIN_VALUE;

    private final String name;
    private final FieldType type;
    private final String description;
    private final boolean foldsCase;
    private final boolean keyed;
    private final boolean exactKey;
    private final ToLongFunction<S> number;
    private final Function<S, @Nullable String> text;
    private final BiFunction<S, String, List<String>> texts;
    private final Function<S, @Nullable IpAddress> address;

    private Field(
            String name,
            FieldType type,
            String description,
            boolean foldsCase,
            boolean keyed,
            boolean exactKey,
            ToLongFunction<S> number,
            Function<S, @Nullable String> text,
            BiFunction<S, String, List<String>> texts,
            Function<S, @Nullable IpAddress> address) {
        this.name = name;
        this.type = type;
        this.description = description;
        this.foldsCase = foldsCase;
        this.keyed = keyed;
        this.exactKey = exactKey;
        this.number = number;
        this.text = text;
        this.texts = texts;
        this.address = address;
    }

    /**
     * Returns a field with a number.
     *
     * @param type an integer, a size in bytes or a duration in nanoseconds
     * @param number reads the value, or returns {@link #ABSENT} if there is none
     */
    public static <S> Field<S> number(String name, FieldType type, String description, ToLongFunction<S> number) {
        if (type.isText()) {
            throw new IllegalArgumentException(name + ": " + type);
        }
        return new Field<>(
                name, type, description, false, false, false, number, s -> null, (s, key) -> List.of(), s -> null);
    }

    /** Returns a field with a text. {@code text} returns null if there is none. */
    public static <S> Field<S> text(String name, String description, Function<S, @Nullable String> text) {
        return new Field<>(
                name,
                FieldType.TEXT,
                description,
                false,
                false,
                false,
                s -> ABSENT,
                text,
                (s, key) -> List.of(),
                s -> null);
    }

    /**
     * Returns a field with a text in lower case, such as a host. The parser converts the literals compared with it to
     * lower case. It does not convert regular expressions.
     */
    public static <S> Field<S> lowerCase(String name, String description, Function<S, @Nullable String> text) {
        return new Field<>(
                name,
                FieldType.TEXT,
                description,
                true,
                false,
                false,
                s -> ABSENT,
                text,
                (s, key) -> List.of(),
                s -> null);
    }

    /** Returns a field with any number of texts. */
    public static <S> Field<S> texts(String name, String description, Function<S, List<String>> texts) {
        return new Field<>(
                name,
                FieldType.TEXTS,
                description,
                false,
                false,
                false,
                s -> ABSENT,
                s -> null,
                (s, key) -> texts.apply(s),
                s -> null);
    }

    /** Returns a field with any number of texts for each key in brackets, such as {@code header["ETag"]}. */
    public static <S> Field<S> keyed(String name, String description, BiFunction<S, String, List<String>> texts) {
        return keyed(name, description, false, texts);
    }

    /** Like {@link #keyed}, for keys whose case is significant, such as {@code cookie["SID"]}. */
    public static <S> Field<S> keyedCaseSensitive(
            String name, String description, BiFunction<S, String, List<String>> texts) {
        return keyed(name, description, true, texts);
    }

    private static <S> Field<S> keyed(
            String name, String description, boolean exactKey, BiFunction<S, String, List<String>> texts) {
        return new Field<>(
                name, FieldType.TEXTS, description, false, true, exactKey, s -> ABSENT, s -> null, texts, s -> null);
    }

    /** Returns a field with an IP address. {@code address} returns null if there is none. */
    public static <S> Field<S> address(String name, String description, Function<S, @Nullable IpAddress> address) {
        return new Field<>(
                name,
                FieldType.ADDRESS,
                description,
                false,
                false,
                false,
                s -> ABSENT,
                s -> null,
                (s, key) -> List.of(),
                address);
    }

    /** Returns the name in expressions. */
    public String name() {
        return name;
    }

    public FieldType type() {
        return type;
    }

    /** Returns the description for the reference page. */
    public String description() {
        return description;
    }

    /** Returns true if the values are in lower case, so that literals must be converted. */
    public boolean foldsCase() {
        return foldsCase;
    }

    /** Returns true if the field needs a key in brackets. */
    public boolean isKeyed() {
        return keyed;
    }

    /** Returns true if the case of the key is significant. Other keys are in lower case. */
    boolean isKeyExact() {
        return exactKey;
    }

    long readNumber(S subject) {
        return number.applyAsLong(subject);
    }

    @Nullable
    String readText(S subject) {
        return text.apply(subject);
    }

    List<String> readTexts(S subject, String key) {
        return texts.apply(subject, key);
    }

    @Nullable
    IpAddress readAddress(S subject) {
        return address.apply(subject);
    }

    @Override
    public String toString() {
        return name;
    }
}
