package io.millrace.proxy.expression;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.value.AddressSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A node of a parsed expression: a comparison, or a combination of conditions. Its canonical form parses to an equal
 * node.
 *
 * <p>Immutable.
 */
sealed interface Condition<S> {
    /** Returns whether the condition holds for the subject. */
    boolean test(S subject);

    /**
     * Returns true if some values of the unknown fields give the result {@code wanted}.
     *
     * @param unknown tests whether the value of a field is unknown
     */
    boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown);

    /** Calls the consumer with each comparison, from left to right. */
    void forEach(Consumer<Condition<S>> comparisons);

    /** Appends the canonical form. The caller adds parentheses around it if the precedence requires them. */
    void print(StringBuilder out);

    /** A conjunction of at least two parts. No part is a conjunction itself. */
    record All<S>(List<Condition<S>> parts) implements Condition<S> {
        @Override
        public boolean test(S subject) {
            for (int i = 0; i < parts.size(); i++) {
                if (!parts.get(i).test(subject)) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return wanted
                    ? everyPartCould(parts, subject, true, unknown)
                    : anyPartCould(parts, subject, false, unknown);
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            parts.forEach(part -> part.forEach(comparisons));
        }

        @Override
        public void print(StringBuilder out) {
            join(out, parts, " && ");
        }
    }

    /** A disjunction of at least two parts. No part is a disjunction itself. */
    record Any<S>(List<Condition<S>> parts) implements Condition<S> {
        @Override
        public boolean test(S subject) {
            for (int i = 0; i < parts.size(); i++) {
                if (parts.get(i).test(subject)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return wanted
                    ? anyPartCould(parts, subject, true, unknown)
                    : everyPartCould(parts, subject, false, unknown);
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            parts.forEach(part -> part.forEach(comparisons));
        }

        @Override
        public void print(StringBuilder out) {
            join(out, parts, " || ");
        }
    }

    /** A negation. */
    record Not<S>(Condition<S> part) implements Condition<S> {
        @Override
        public boolean test(S subject) {
            return !part.test(subject);
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return part.canResultIn(subject, !wanted, unknown);
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            part.forEach(comparisons);
        }

        @Override
        public void print(StringBuilder out) {
            out.append('!');
            if (part instanceof Not<S>) {
                part.print(out);
            } else {
                out.append('(');
                part.print(out);
                out.append(')');
            }
        }
    }

    /**
     * A comparison of a number with one literal, or with several for {@code in}. An absent number equals no literal.
     */
    record Numbers<S>(Field<S> field, Operator operator, List<Long> values, boolean isList) implements Condition<S> {
        @Override
        public boolean test(S subject) {
            long number = field.readNumber(subject);
            if (number == Field.ABSENT) {
                return operator == Operator.NOT_EQUAL;
            }
            for (int i = 0; i < values.size(); i++) {
                if (operator.holds(number, values.get(i))) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return unknown.test(field) || test(subject) == wanted;
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            comparisons.accept(this);
        }

        @Override
        public void print(StringBuilder out) {
            printComparison(
                    out, field, null, isList ? "in" : operator.text(), values, value -> Literal.number(field, value));
        }
    }

    /**
     * A comparison of one text or several with one literal, or with several for {@code in}. It holds if any text equals
     * any literal; with {@code !=}, if no text does.
     */
    record Texts<S>(Field<S> field, @Nullable String key, Operator operator, List<String> values, boolean isList)
            implements Condition<S> {
        @Override
        public boolean test(S subject) {
            return isEqual(subject) == (operator == Operator.EQUAL);
        }

        private boolean isEqual(S subject) {
            if (field.type() == FieldType.TEXT) {
                String text = field.readText(subject);
                return text != null && values.contains(text);
            }
            List<String> texts = field.readTexts(subject, key == null ? "" : key);
            for (int i = 0; i < texts.size(); i++) {
                if (values.contains(texts.get(i))) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return unknown.test(field) || test(subject) == wanted;
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            comparisons.accept(this);
        }

        @Override
        public void print(StringBuilder out) {
            printComparison(out, field, key, isList ? "in" : operator.text(), values, Literal::quoted);
        }
    }

    /** A comparison of an address with a set of addresses. A missing address belongs to no set. */
    record Addresses<S>(Field<S> field, Operator operator, AddressSet values, boolean isList) implements Condition<S> {
        @Override
        public boolean test(S subject) {
            return values.contains(field.readAddress(subject)) == (operator == Operator.EQUAL);
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return unknown.test(field) || test(subject) == wanted;
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            comparisons.accept(this);
        }

        @Override
        public void print(StringBuilder out) {
            printComparison(out, field, null, isList ? "in" : operator.text(), values.texts(), Literal::quoted);
        }
    }

    /** A match of a regular expression. Holds if the expression is found in the text, or in any of several texts. */
    record Match<S>(Field<S> field, @Nullable String key, Pattern pattern) implements Condition<S> {
        @Override
        public boolean test(S subject) {
            if (field.type() == FieldType.TEXT) {
                String text = field.readText(subject);
                return text != null && pattern.matcher(text).find();
            }
            List<String> texts = field.readTexts(subject, key == null ? "" : key);
            for (int i = 0; i < texts.size(); i++) {
                if (pattern.matcher(texts.get(i)).find()) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean canResultIn(S subject, boolean wanted, Predicate<Field<S>> unknown) {
            return unknown.test(field) || test(subject) == wanted;
        }

        @Override
        public void forEach(Consumer<Condition<S>> comparisons) {
            comparisons.accept(this);
        }

        @Override
        public void print(StringBuilder out) {
            printComparison(out, field, key, Operator.MATCH.text(), List.of(pattern.pattern()), Literal::quoted);
        }
    }

    /** Prints a literal. */
    @FunctionalInterface
    interface Printer<V> {
        String print(V value);
    }

    private static <S> boolean everyPartCould(
            List<Condition<S>> parts, S subject, boolean wanted, Predicate<Field<S>> unknown) {
        for (int i = 0; i < parts.size(); i++) {
            if (!parts.get(i).canResultIn(subject, wanted, unknown)) {
                return false;
            }
        }
        return true;
    }

    private static <S> boolean anyPartCould(
            List<Condition<S>> parts, S subject, boolean wanted, Predicate<Field<S>> unknown) {
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).canResultIn(subject, wanted, unknown)) {
                return true;
            }
        }
        return false;
    }

    private static <S> void join(StringBuilder out, List<Condition<S>> parts, String between) {
        for (int i = 0; i < parts.size(); i++) {
            out.append(i == 0 ? "" : between);
            Condition<S> part = parts.get(i);
            // && has a higher precedence than ||.
            boolean needsParentheses = part instanceof Any<S>;
            out.append(needsParentheses ? "(" : "");
            part.print(out);
            out.append(needsParentheses ? ")" : "");
        }
    }

    private static <V> void printComparison(
            StringBuilder out,
            Field<?> field,
            @Nullable String key,
            String operator,
            List<V> values,
            Printer<V> printer) {
        out.append(field.name());
        if (key != null) {
            out.append('[').append(Literal.quoted(key)).append(']');
        }
        out.append(' ').append(operator).append(' ');
        boolean isList = operator.equals("in");
        out.append(isList ? "(" : "");
        for (int i = 0; i < values.size(); i++) {
            out.append(i == 0 ? "" : ", ").append(printer.print(values.get(i)));
        }
        out.append(isList ? ")" : "");
    }
}
