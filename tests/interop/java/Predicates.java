import java.util.ArrayList;
import java.util.List;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.types.RowType;

/** Predicates as JSON: {@code ["and", p, q]}, {@code ["=", column, value]}, ... */
final class Predicates {
    private Predicates() {}

    static Predicate parse(JsonNode json, RowType type) {
        String operator = json.get(0).asText();
        if (operator.equals("and") || operator.equals("or")) {
            List<Predicate> parts = new ArrayList<>();
            for (int i = 1; i < json.size(); i++) {
                parts.add(parse(json.get(i), type));
            }
            return operator.equals("and")
                    ? PredicateBuilder.and(parts)
                    : PredicateBuilder.or(parts);
        }
        return leaf(operator, json, type);
    }

    private static Predicate leaf(String operator, JsonNode json, RowType type) {
        PredicateBuilder builder = new PredicateBuilder(type);
        int column = builder.indexOf(json.get(1).asText());
        JsonNode operand = json.get(2);
        boolean isList = operand != null && operand.isArray();
        Object value = isList ? null : Values.fromJson(operand, type.getTypeAt(column));
        return switch (operator) {
            case "=" -> builder.equal(column, value);
            case "!=" -> builder.notEqual(column, value);
            case "<" -> builder.lessThan(column, value);
            case "<=" -> builder.lessOrEqual(column, value);
            case ">" -> builder.greaterThan(column, value);
            case ">=" -> builder.greaterOrEqual(column, value);
            case "is_null" -> builder.isNull(column);
            case "is_not_null" -> builder.isNotNull(column);
            case "starts_with" -> builder.startsWith(column, value);
            case "ends_with" -> builder.endsWith(column, value);
            case "contains" -> builder.contains(column, value);
            case "in" -> builder.in(column, values(operand, column, type));
            case "not_in" -> builder.notIn(column, values(operand, column, type));
            default -> throw new IllegalArgumentException("no predicate " + operator);
        };
    }

    private static List<Object> values(JsonNode operands, int column, RowType type) {
        List<Object> found = new ArrayList<>();
        operands.forEach(operand -> found.add(Values.fromJson(operand, type.getTypeAt(column))));
        return found;
    }
}
