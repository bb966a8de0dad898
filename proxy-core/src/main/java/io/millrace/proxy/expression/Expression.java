package io.millrace.proxy.expression;

import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A condition over the fields of a subject, such as {@code host == "a.example" && age > 2d}. The grammar is in
 * docs/reference/expressions.md.
 *
 * <p>Immutable and thread-safe. Evaluation allocates nothing but what regular expressions and the readers of fields do.
 *
 * @param <S> the subject
 */
public final class Expression<S> {
    /** Characters in one expression. */
    public static final int LENGTH_MAX = 8192;

    /** Parentheses and {@code !} within each other. */
    public static final int NESTING_MAX = 64;

    /** Texts and numbers in one expression. */
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
     * @param schema the fields that it may name
     * @throws ExpressionException if it is none, with the position
     */
    public static <S> Expression<S> parse(String text, Schema<S> schema) throws ExpressionException {
        return new Expression<>(new ExpressionParser<>(text, schema).parse());
    }

    /** Whether it holds for the subject. */
    public boolean test(S subject) {
        return condition.test(subject);
    }

    /**
     * Whether it could hold for the subject, where the values of some fields are not known: false means surely not.
     *
     * @param unknown whether the value of a field is not known
     */
    public boolean couldHold(S subject, Predicate<Field<S>> unknown) {
        return condition.could(subject, true, unknown);
    }

    /** The canonical form, which parses to an equal expression. */
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
