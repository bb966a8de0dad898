package io.millrace.proxy.expression;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.config.value.Suggestions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Parses one expression by recursive descent, one method for each rule of the grammar:
 *
 * <pre>
 *   expression = all *( "||" all )
 *   all        = unary *( "&amp;&amp;" unary )
 *   unary      = "!" unary / "(" expression ")" / comparison
 *   comparison = field operator literal / field "in" "(" literal *( "," literal ) ")"
 *   field      = name [ "[" text "]" ]
 * </pre>
 *
 * <p>Confined to one thread.
 */
final class ExpressionParser<S> {
    private final String text;
    private final Schema<S> schema;
    private final Lexer lexer;
    private final List<String> patterns = new ArrayList<>();
    private Token token;
    private int depth;
    private int literals;

    ExpressionParser(String text, Schema<S> schema) throws ExpressionException {
        if (text.length() > Expression.LENGTH_MAX) {
            throw new ExpressionException(
                    text,
                    Expression.LENGTH_MAX,
                    "the expression has " + text.length() + " characters, limit=" + Expression.LENGTH_MAX);
        }
        this.text = text;
        this.schema = schema;
        lexer = new Lexer(text);
        token = lexer.next();
    }

    Condition<S> parse() throws ExpressionException {
        Condition<S> whole = any();
        if (token.kind() != Token.Kind.END) {
            throw wrong("expected && or || or the end, actual=" + token.shown());
        }
        return whole;
    }

    private Condition<S> any() throws ExpressionException {
        List<Condition<S>> parts = new ArrayList<>();
        do {
            Condition<S> part = all();
            if (part instanceof Condition.Any<S> inner) {
                parts.addAll(inner.parts());
            } else {
                parts.add(part);
            }
        } while (take("||"));
        return parts.size() == 1 ? parts.get(0) : new Condition.Any<>(List.copyOf(parts));
    }

    private Condition<S> all() throws ExpressionException {
        List<Condition<S>> parts = new ArrayList<>();
        do {
            Condition<S> part = unary();
            if (part instanceof Condition.All<S> inner) {
                parts.addAll(inner.parts());
            } else {
                parts.add(part);
            }
        } while (take("&&"));
        return parts.size() == 1 ? parts.get(0) : new Condition.All<>(List.copyOf(parts));
    }

    private Condition<S> unary() throws ExpressionException {
        Token first = token;
        if (take("!")) {
            descend(first);
            // A negation and its parentheses count as one level, because the canonical form always has parentheses.
            Condition<S> part = take("(") ? inParentheses() : unary();
            depth--;
            return new Condition.Not<>(part);
        }
        if (take("(")) {
            descend(first);
            Condition<S> part = inParentheses();
            depth--;
            return part;
        }
        return comparison();
    }

    private Condition<S> inParentheses() throws ExpressionException {
        Condition<S> part = any();
        expect(")");
        return part;
    }

    private void descend(Token at) throws ExpressionException {
        if (++depth > Expression.NESTING_MAX) {
            throw new ExpressionException(
                    text, at.offset(), "nested more than " + Expression.NESTING_MAX + " deep, which is the limit");
        }
    }

    private Condition<S> comparison() throws ExpressionException {
        Field<S> field = field();
        String key = field.isKeyed() ? key(field) : null;
        if (token.isName("in")) {
            return list(field, key);
        }
        Operator operator = operator(field);
        advance();
        if (operator == Operator.MATCH) {
            return new Condition.Match<>(field, key, pattern(field));
        }
        if (field.type() == FieldType.ADDRESS) {
            return new Condition.Addresses<>(
                    field, operator, addresses(field, List.of(literal(field, Token.Kind.TEXT))), false);
        }
        if (field.type().isText()) {
            return new Condition.Texts<>(field, key, operator, List.of(textOf(field)), false);
        }
        return new Condition.Numbers<>(field, operator, List.of(numberOf(field)), false);
    }

    private Field<S> field() throws ExpressionException {
        if (token.kind() != Token.Kind.NAME) {
            throw wrong("expected a field, ! or (, actual=" + token.shown());
        }
        Field<S> field = schema.find(token.text());
        if (field == null) {
            String near = Suggestions.closest(token.text().toLowerCase(Locale.ROOT), schema.names());
            String meant = near == null ? "" : " (did you mean " + near + "?)";
            throw wrong("unknown field " + token.shown() + meant + "; known: " + String.join(", ", schema.names()));
        }
        advance();
        return field;
    }

    private String key(Field<S> field) throws ExpressionException {
        expect("[");
        if (token.kind() != Token.Kind.TEXT || token.text().isEmpty()) {
            throw wrong("expected a name in quotes for " + field + "[…], actual=" + token.shown());
        }
        String key = field.isKeyExact() ? token.text() : token.text().toLowerCase(Locale.ROOT);
        advance();
        expect("]");
        return key;
    }

    private Operator operator(Field<S> field) throws ExpressionException {
        for (Operator operator : Operator.values()) {
            if (token.is(operator.text())) {
                if (!field.type().allows(operator)) {
                    throw wrong(field + " is " + field.type().withArticle() + ", which has no " + token.shown()
                            + " (operators: " + field.type().operatorNames() + ")");
                }
                return operator;
            }
        }
        throw wrong("expected an operator after " + field + " (" + field.type().operatorNames() + "), actual="
                + token.shown());
    }

    private Condition<S> list(Field<S> field, @Nullable String key) throws ExpressionException {
        advance();
        expect("(");
        List<String> texts = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        List<Token> addresses = new ArrayList<>();
        do {
            if (field.type() == FieldType.ADDRESS) {
                addresses.add(literal(field, Token.Kind.TEXT));
            } else if (field.type().isText()) {
                texts.add(textOf(field));
            } else {
                numbers.add(numberOf(field));
            }
        } while (take(","));
        expect(")");
        if (field.type() == FieldType.ADDRESS) {
            return new Condition.Addresses<>(field, Operator.EQUAL, addresses(field, addresses), true);
        }
        return field.type().isText()
                ? new Condition.Texts<>(field, key, Operator.EQUAL, List.copyOf(texts), true)
                : new Condition.Numbers<>(field, Operator.EQUAL, List.copyOf(numbers), true);
    }

    private AddressSet addresses(Field<S> field, List<Token> literals) throws ExpressionException {
        List<String> texts = new ArrayList<>();
        for (Token literal : literals) {
            texts.add(literal.text());
            try {
                AddressSet.of(List.of(literal.text()));
            } catch (InvalidValueException e) {
                throw new ExpressionException(text, literal.offset(), field + ": " + Literal.withSuggestion(e));
            }
        }
        try {
            return AddressSet.of(texts);
        } catch (InvalidValueException e) {
            throw new ExpressionException(text, literals.get(0).offset(), field + ": " + Literal.withSuggestion(e));
        }
    }

    private String textOf(Field<S> field) throws ExpressionException {
        String value = literal(field, Token.Kind.TEXT).text();
        return field.foldsCase() ? value.toLowerCase(Locale.ROOT) : value;
    }

    private long numberOf(Field<S> field) throws ExpressionException {
        Token number = literal(field, Token.Kind.NUMBER);
        try {
            return Literal.number(field.type(), number.text());
        } catch (InvalidValueException e) {
            throw new ExpressionException(text, number.offset(), field + ": " + Literal.withSuggestion(e));
        }
    }

    private Pattern pattern(Field<S> field) throws ExpressionException {
        Token literal = literal(field, Token.Kind.TEXT);
        try {
            Pattern pattern = Regex.compile(literal.text());
            patterns.add(literal.text());
            long steps = Regex.steps(patterns);
            if (steps > Regex.STEPS_MAX) {
                throw new ExpressionException(
                        text,
                        literal.offset(),
                        "the regular expressions are too complex: together they have " + steps
                                + " steps after compilation, limit=" + Regex.STEPS_MAX);
            }
            return pattern;
        } catch (PatternSyntaxException e) {
            throw new ExpressionException(text, literal.offset(), "regular expression: " + e.getMessage());
        }
    }

    private Token literal(Field<S> field, Token.Kind kind) throws ExpressionException {
        Token literal = token;
        if (literal.kind() != kind) {
            throw wrong(field + " is compared with " + field.type().expected() + ", actual=" + literal.shown());
        }
        if (++literals > Expression.LITERALS_MAX) {
            throw wrong("more than " + Expression.LITERALS_MAX + " texts and numbers, which is the limit");
        }
        advance();
        return literal;
    }

    private boolean take(String symbol) throws ExpressionException {
        if (token.is(symbol)) {
            advance();
            return true;
        }
        return false;
    }

    private void expect(String symbol) throws ExpressionException {
        if (!take(symbol)) {
            throw wrong("expected " + symbol + ", actual=" + token.shown());
        }
    }

    private void advance() throws ExpressionException {
        token = lexer.next();
    }

    private ExpressionException wrong(String problem) {
        return new ExpressionException(text, token.offset(), problem);
    }
}
