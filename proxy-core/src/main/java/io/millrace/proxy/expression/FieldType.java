package io.millrace.proxy.expression;

/** The type of a field, which decides the operators and the literals that it may be compared with. */
public enum FieldType {
    /** Text, in quotes. */
    TEXT("text", "a text", "a text in quotes"),
    /** Several texts: a comparison holds when it holds for one of them. */
    TEXTS("texts", "a list of texts", "a text in quotes"),
    /** A whole number without a unit. */
    INTEGER("integer", "an integer", "a whole number"),
    /** A number of bytes, such as {@code 10M}. */
    SIZE("size", "a size", "a size such as 10M or 512KiB"),
    /** A length of time, such as {@code 2d} or {@code 1h30m}, in nanoseconds. */
    DURATION("duration", "a duration", "a duration such as 30s, 2d or 1h30m");

    private final String text;
    private final String withArticle;
    private final String expected;

    FieldType(String text, String withArticle, String expected) {
        this.text = text;
        this.withArticle = withArticle;
        this.expected = expected;
    }

    /** Name for the reference. */
    public String text() {
        return text;
    }

    /** Name for messages. */
    String withArticle() {
        return withArticle;
    }

    /** The literal that it is compared with, for messages. */
    String expected() {
        return expected;
    }

    boolean isText() {
        return this == TEXT || this == TEXTS;
    }

    boolean allows(Operator operator) {
        return switch (operator) {
            case EQUAL, NOT_EQUAL -> true;
            case MATCH -> isText();
            case LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> !isText();
        };
    }

    /** Its operators and {@code in}, for messages. */
    String operatorNames() {
        StringBuilder names = new StringBuilder();
        for (Operator operator : Operator.values()) {
            if (allows(operator)) {
                names.append(operator.text()).append(' ');
            }
        }
        return names.append("in").toString();
    }
}
