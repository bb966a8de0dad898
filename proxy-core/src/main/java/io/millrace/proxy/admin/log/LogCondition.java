package io.millrace.proxy.admin.log;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.logged.LoggedFields;
import org.jspecify.annotations.Nullable;

/** Parses the parameter {@code where}: a condition for finished requests. Stateless. */
final class LogCondition {
    private LogCondition() {}

    /**
     * Returns the condition; null without the parameter.
     *
     * @throws AdminException 400 with the position of an error; 403 if a caller of the role viewer names the field
     *     client, because addresses of clients could be found by trying values
     */
    static @Nullable Expression<LoggedFacts> of(AdminRequest request) throws AdminException {
        String where = request.optionalParameter("where");
        if (where == null) {
            return null;
        }
        Expression<LoggedFacts> condition;
        try {
            condition = Expression.parse(where, LoggedFields.SCHEMA);
        } catch (ExpressionException e) {
            throw new AdminException(400, "bad-expression", "where:" + e.message());
        }
        if (request.caller().hasViewerRole() && condition.names(LoggedFields::isOfClient)) {
            throw new AdminException(
                    403,
                    "role-refused",
                    "where names the field client, which the role viewer does not see; use a token of the role"
                            + " operator");
        }
        return condition;
    }
}
