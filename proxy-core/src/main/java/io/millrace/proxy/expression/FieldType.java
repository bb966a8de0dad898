package io.millrace.proxy.expression;

/** The type of a field. It determines the allowed operators and literals. */
public enum FieldType {
    /** A text; its literals are in quotes. */
    TEXT("text", "a text", "a text in quotes"),
    /**
     * Any number of texts. {@code ==} and {@code =~} hold if they hold for any text; {@code !=} holds if no text is
     * equal.
     */
    TEXTS("texts", "a list of texts", "a text in quotes"),
    /** A whole number without a unit. */
    INTEGER("integer", "an integer", "a whole number"),
    /** A number of bytes, such as {@code 10M}. */
    SIZE("size", "a size", "a size such as 10M or 512KiB"),
    /** A duration, such as {@code 2d} or {@code 1h30m}. Its value is in nanoseconds. */
    DURATION("duration", "a duration", "a duration such as 30s, 2d or 1h30m"),
    /** An IP address. Its literals are addresses and ranges in quotes; {@code ==} and {@code in} test membership. */
    ADDRESS("address", "an address", "an address or a range in quotes, such as \"10.0.0.0/8\"");

    private final String text;
    private final String withArticle;
    private final String expected;

    FieldType(String text, String withArticle, String expected) {
        this.text = text;
        this.withArticle = withArticle;
        this.expected = expected;
    }

    /** Returns the name for the reference page. */
    public String text() {
        return text;
    }

    /** Returns the name with an article, for messages. */
    String withArticle() {
        return withArticle;
    }

    /** Returns a description of its literals, for messages. */
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
            case LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> !isText() && this != ADDRESS;
        };
    }

    /** Returns the allowed operators and {@code in}, for messages. */
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
