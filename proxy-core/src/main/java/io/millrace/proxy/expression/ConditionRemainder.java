package io.millrace.proxy.expression;

import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;

/**
 * The remainder of a condition after its partial evaluation with a fixed value of one text field. It consists of
 * comparisons of other fields, in a normal form. Equal remainders have equal results for all values of the other
 * fields. Stateless.
 */
final class ConditionRemainder {
    private static final String TRUE = "true";
    private static final String FALSE = "false";

    private ConditionRemainder() {}

    /**
     * Returns the remainder of a condition.
     *
     * @param field name of a field with one text
     * @param value the text of the field
     * @return {@code true} or {@code false} if the other fields do not matter
     */
    static <S> String of(Condition<S> condition, String field, String value) {
        if (condition instanceof Condition.All<S> all) {
            return join(all.parts(), field, value, TRUE, FALSE);
        }
        if (condition instanceof Condition.Any<S> any) {
            return join(any.parts(), field, value, FALSE, TRUE);
        }
        if (condition instanceof Condition.Not<S> not) {
            return negated(of(not.part(), field, value));
        }
        if (condition instanceof Condition.Texts<S> texts && isOf(texts.field(), field)) {
            return String.valueOf(texts.values().contains(value) == (texts.operator() == Operator.EQUAL));
        }
        if (condition instanceof Condition.Match<S> match && isOf(match.field(), field)) {
            return String.valueOf(match.pattern().matcher(value).find());
        }
        StringBuilder text = new StringBuilder();
        condition.print(text);
        return text.toString();
    }

    private static boolean isOf(Field<?> field, String name) {
        return field.type() == FieldType.TEXT && field.name().equals(name);
    }

    private static String negated(String rest) {
        if (rest.equals(TRUE) || rest.equals(FALSE)) {
            return rest.equals(TRUE) ? FALSE : TRUE;
        }
        return "!(" + rest + ")";
    }

    /**
     * Joins the remainders of parts, sorted and without duplicates.
     *
     * @param neutral the remainder of a part that does not change the result
     * @param decisive the remainder of a part that alone determines the result
     */
    private static <S> String join(
            List<Condition<S>> parts, String field, String value, String neutral, String decisive) {
        TreeSet<String> rests = new TreeSet<>();
        for (Condition<S> part : parts) {
            rests.add(of(part, field, value));
        }
        rests.remove(neutral);
        if (rests.isEmpty() || rests.contains(decisive)) {
            return rests.isEmpty() ? neutral : decisive;
        }
        Iterator<String> each = rests.iterator();
        String first = each.next();
        if (!each.hasNext()) {
            return first;
        }
        return "(" + String.join(neutral.equals(TRUE) ? ") && (" : ") || (", rests) + ")";
    }
}
