package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.expression.request.RequestFields;

/** Parses conditions on requests whose response is not known yet. */
public final class RequestConditions {
    private RequestConditions() {}

    /**
     * Parses a condition.
     *
     * @throws InvalidValueException if the text is not an expression, or reads a field of the response
     */
    public static Expression<RequestFacts> parse(String text) throws InvalidValueException {
        try {
            Expression<RequestFacts> when = Expression.parse(text, RequestFields.SCHEMA);
            for (Field<RequestFacts> field : when.fields()) {
                if (RequestFields.isOfResponse(field)) {
                    throw new InvalidValueException(
                            "reads " + field.name() + ", which is known only when the response is sent");
                }
            }
            return when;
        } catch (ExpressionException e) {
            throw new InvalidValueException(e.message());
        }
    }
}
