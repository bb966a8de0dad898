package io.millrace.proxy.expression;

import com.google.re2j.Pattern;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A condition over the fields of a subject, such as {@code host == "a.example" && age > 2d}. The grammar is in
 * docs/reference/expressions.md.
 *
 * <p>Immutable and thread-safe. Only regular expressions and the functions that read fields allocate memory during
 * evaluation.
 *
 * @param <S> the type of the subject
 */
public final class Expression<S> {
    /** Maximum length of an expression, in characters. */
    public static final int LENGTH_MAX = 8192;

    /** Maximum nesting of parentheses and {@code !}. */
    public static final int NESTING_MAX = 64;

    /** Maximum number of literals in one expression. */
    public static final int LITERALS_MAX = 1000;

    private final Condition<S> condition;
    private final String text;

    private Expression(Condition<S> condition) {
        this.condition = condition;
        StringBuilder canonical = new StringBuilder();
        condition.print(canonical);
        text = canonical.toString();
    }

    /**
     * Parses an expression.
     *
     * @param schema the fields that the expression may name
     * @throws ExpressionException if the text is not a valid expression; the message begins with the position
     */
    public static <S> Expression<S> parse(String text, Schema<S> schema) throws ExpressionException {
        return new Expression<>(new ExpressionParser<>(text, schema).parse());
    }

    /** Returns a text as a literal, in quotes and with escapes. */
    public static String literal(String text) {
        return Literal.quoted(text);
    }

    /** Returns whether the condition holds for the subject. */
    public boolean test(S subject) {
        return condition.test(subject);
    }

    /**
     * Returns true if the expression holds for the subject with some values of the unknown fields.
     *
     * @param unknown whether the value of a field is unknown
     * @return false if the expression fails whatever the values of these fields are
     */
    public boolean couldHold(S subject, Predicate<Field<S>> unknown) {
        return condition.canResultIn(subject, true, unknown);
    }

    /**
     * Returns true if the expression fails for the subject with some values of the unknown fields.
     *
     * @param unknown whether the value of a field is unknown
     * @return false if the expression holds whatever the values of these fields are
     */
    public boolean couldFail(S subject, Predicate<Field<S>> unknown) {
        return condition.canResultIn(subject, false, unknown);
    }

    /** Returns the fields that the expression reads, each once, from left to right. */
    public Set<Field<S>> fields() {
        Set<Field<S>> fields = new LinkedHashSet<>();
        condition.forEach(comparison -> fields.add(fieldOf(comparison)));
        return fields;
    }

    /** Returns the regular expressions, from left to right. */
    public List<String> patterns() {
        List<String> patterns = new ArrayList<>();
        condition.forEach(comparison -> {
            if (comparison instanceof Condition.Match<S> match) {
                patterns.add(match.pattern().pattern());
            }
        });
        return patterns;
    }

    /**
     * Returns the regular expression that the field must match for the expression to hold.
     *
     * @return null unless exactly one {@code =~} compares the field, and it is neither negated nor below {@code ||}
     */
    public @Nullable Pattern requiredMatch(String field) {
        List<Condition<S>> parts = condition instanceof Condition.All<S> all ? all.parts() : List.of(condition);
        Pattern found = null;
        for (Condition<S> part : parts) {
            if (part instanceof Condition.Match<S> match
                    && match.key() == null
                    && match.field().name().equals(field)) {
                if (found != null) {
                    return null;
                }
                found = match.pattern();
            }
        }
        return found;
    }

    /**
     * Returns true if two values of a field give the same result, whatever the values of all other fields.
     *
     * @param field name of a field with one text
     * @return false also if the equality cannot be proved
     */
    public boolean isSameFor(String field, String one, String other) {
        return ConditionRemainder.of(condition, field, one).equals(ConditionRemainder.of(condition, field, other));
    }

    private static <S> Field<S> fieldOf(Condition<S> comparison) {
        if (comparison instanceof Condition.Numbers<S> numbers) {
            return numbers.field();
        }
        if (comparison instanceof Condition.Texts<S> texts) {
            return texts.field();
        }
        if (comparison instanceof Condition.Addresses<S> addresses) {
            return addresses.field();
        }
        if (comparison instanceof Condition.Match<S> match) {
            return match.field();
        }
        throw new IllegalStateException("not a comparison: " + comparison);
    }

    /** Returns whether the expression names a field that the test accepts. */
    public boolean names(Predicate<Field<S>> wanted) {
        return fields().stream().anyMatch(wanted);
    }

    /** Returns the canonical form, which parses to an equal expression. */
    @Override
    public String toString() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Expression<?> that && condition.equals(that.condition);
    }

    @Override
    public int hashCode() {
        return Objects.hash(condition);
    }
}
