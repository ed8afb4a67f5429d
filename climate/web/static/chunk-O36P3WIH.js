import{q as n,t as r}from"./chunk-NAMZRFUQ.js";function i(e){let o=`kind_${e.name}`;if(o in n)return r(o);let t=e.noun||e.name;return`${t.charAt(0).toUpperCase()}${t.slice(1)}`}export{i as a};
